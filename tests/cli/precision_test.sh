# --precision_mode=allow_mix_precision in atc and aoe: both state the error against float32, and keep to a hundredth of the range.
source "$(dirname "$0")/lib.sh"

make_model vit-b16 --small --image=32 --output=m.onnx >/dev/null || fail "make_model"
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w

# off EXACT OTHER: the largest difference between the outputs in two directories, as a share of the range of the first.
off() { python3 "$here/output_difference.py" "$1" "$2"; }
is_below() { python3 -c "import sys; sys.exit(not 0 <= float(sys.argv[1]) <= float(sys.argv[2]))" "$1" "$2"; }

run 0 atc --framework=5 --model=m.onnx --output=exact --precision_mode=force_fp32 --log=info
grep -q bfloat16 err && fail "float32 speaks of bfloat16"
run 0 aoe_run --model=exact.om --repeat=1 --output-dir=exact

run 0 atc --framework=5 --model=m.onnx --output=mixed --precision_mode=allow_mix_precision --log=info
line='bfloat16 in ([0-9]+) of ([0-9]+) products, error ([0-9.e+-]+) of the range'
has err "$line"
read -r lowered products stated < <(sed -nE "s/.*$line.*/\1 \2 \3/p" err)
[ "$products" -gt 0 ] || fail "no product might be rounded"
is_below "$stated" 1e-2 || fail "atc states an error of $stated"
run 0 aoe_run --model=mixed.om --repeat=1 --output-dir=mixed
is_below "$(off exact mixed)" 1e-2 || fail "off by $(off exact mixed) of the range"
run 0 atc --mode=6 --om=mixed.om
if grep -q avx512_bf16 /proc/cpuinfo; then
  [ "$lowered" -gt 0 ] || fail "this machine has bfloat16, and nothing uses it"
  has out 'isa\[avx512_bf16\]'
  [ "$(off exact mixed)" != "0.0" ] || fail "rounding does not show"
else
  equal "$lowered" 0 "products in bfloat16 on a machine that has none"
  equal "$(off exact mixed)" "0.0" "difference without bfloat16"
fi

tune() { run 0 aoe --framework=5 --model=m.onnx --job_type=2 --progress_bar=off --preset="$brief" --trials=12 "$@"; }
basic() { json "$(ls -t w/aoe_result_opat_*_pid*.json | head -1)" "d[0]['basic'].get('$1')"; }
tune --output=tuned --precision_mode=allow_mix_precision
has out '^precision: the tuned model is off from the same in float32 by [0-9.e+-]+ of its range$'
is_below "$(basic error_against_fp32)" 1e-2 || fail "aoe states an error of $(basic error_against_fp32)"
run 0 aoe_run --model=tuned.om --repeat=1 --output-dir=tuned
is_below "$(off exact tuned)" 1e-2 || fail "the tuned model is off by $(off exact tuned) of the range"

# In float32 there is no such error, and the strategies of bfloat16 stay out.
tune --output=tuned_exact
grep -q '^precision:' out && fail "an error is stated in float32"
equal "$(basic error_against_fp32)" "None" "error in the result of float32"
run 0 aoe_run --model=tuned_exact.om --repeat=1 --output-dir=tuned_exact
is_below "$(off exact tuned_exact)" 1e-4 || fail "float32 is off by $(off exact tuned_exact) of the range"

# Subgraphs are tuned in float32, which is said where another precision is asked for, and only there.
tune_subgraphs() { run 0 aoe --framework=5 --model=m.onnx --job_type=1 --progress_bar=off --preset="$brief" --trials=2 --search_limit=5 "$@"; }
tune_subgraphs --precision_mode=allow_mix_precision
equal "$(grep -c 'subgraphs are tuned in float32' err)" 1 "lines that say so"
tune_subgraphs --precision_mode=must_keep_origin_dtype
grep -q 'subgraphs are tuned in float32' err && fail "said of float32"
finish
