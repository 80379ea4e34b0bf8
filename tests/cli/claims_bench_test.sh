# claims_bench: what it calls, and when it says that a claim holds.
source "$(dirname "$0")/lib.sh"
bench=$here/../../benchmarks/claims_bench

# The real programs. Whether a claim of so few measurements holds is chance; that the pieces fit is not.
"$bench" squeezenet --small --bin="$bin" --directory=real --aoe="--preset=quick --trials=2" --pause=0 --rounds=2 --seconds=0.01 --json >out 2>err
code=$?
[ $code -eq 0 ] || [ $code -eq 8 ] || fail "exit code $code: $(tail -3 err real/claims_bench.log)"
equal "$(json out "d['claims'][0]['model'], len(d['claims'][0]['measured_percent'])")" "squeezenet 3" "the row"
exists real/squeezenet_tuned.om

# Programs that answer what they are told: the claim is 10%, measured are the ratios of the file, each in an interval of
# $WIDTH to both sides.
mkdir fake
cat >fake/aoe <<'EOF'
#!/bin/bash
for word; do [[ $word != --result=* ]] || cp "$RESULT" "${word#*=}"; done
EOF
cat >fake/aoe_compare <<'EOF'
#!/bin/bash
ratio=$(head -1 "$RATIOS")
echo "{\"pairs\": [{\"ratio\": $ratio, \"ratio_interval\": [$(awk "BEGIN { print $ratio - $WIDTH }"), $(awk "BEGIN { print $ratio + $WIDTH }")]}]}"
sed -i 1d "$RATIOS"
EOF
chmod +x fake/aoe fake/aoe_compare
ln -s /bin/true fake/make_model
ln -s /bin/true fake/atc
export RATIOS=$work/ratios RESULT=$work/result WIDTH=0.002
# claims VERDICT CODE WORD RATIO...: the run ends with CODE, the row with WORD.
claims() {
  local verdict=$1 code=$2 word=$3; shift 3
  rm -rf made
  echo '{"results": [{"model": {"verdict": "'"$verdict"'", "speedup": 1.1}}]}' >result
  printf '%s\n' "$@" >ratios
  run "$code" "$bench" vgg16 --bin="$work/fake" --directory=made --pause=0
  has out "^\| vgg16 .*\| $word \|$"
}
claims faster 0 yes 1.1 1.086 1.2
claims faster 8 no 1.1 1.084 1.2
WIDTH=0.03
claims faster 0 yes 1.1 1.075 1.2  # a noisy minute proves nothing short
claims faster 8 no 1.1 1.065 1.2
WIDTH=0.002
claims ambiguous 0 yes 1 0.991 1.01
claims ambiguous 0 yes 1 0.989 1  # noise may have done it
claims ambiguous 8 'yes, slower' 1 0.987 1
claims faster 8 'no, slower' 1.1 1.1 0.9
equal "$(wc -l <ratios)" 0 "measurements left"
finish
