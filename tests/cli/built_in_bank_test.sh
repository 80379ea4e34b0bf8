# The bank that ships with the product: made from networks of make_model, used where its configurations lie beside it.
source "$(dirname "$0")/lib.sh"
script=$here/../../scripts/make_built_in_bank

refuses 2 "one for the bank" "$script" "$bin"
run 0 "$script" -m "squeezenet" -n "--small --image=32" -t "--preset=quick --trials=30" "$bin" share/aoe
bank=$(ls -d "$work"/share/aoe/bank/op/*)
run 0 aoe_bank list --bank="$bank" --all --json
known=$(json out "len(d)")
[ "$known" -gt 0 ] || fail "the built-in bank is empty"
run 0 aoe_bank list --bank="$bank"
said=$(tail -1 out | grep -oE '^[0-9]+ tasks( and [0-9]+ whose default nothing beats)?' | grep -oE '[0-9]+' | paste -sd+)
equal "$((said))" "$known" "tasks of which the list's last line speaks"
exists "$work/share/aoe/bank/graph/$(basename "$bank")/BANK"

# What is there is not tuned again.
run 0 "$script" -m "squeezenet" -n "--small --image=32" "$bin" share/aoe
grep -q tuning err && fail "tuned twice: $(cat err)"

cp -r "$here/../../configs" share/aoe/
run 0 env AOE_CONFIG_DIR="$work/share/aoe/configs" atc --framework=5 --model=share/aoe/tuning/squeezenet.onnx --output=m --log=info
if aoe_bank list --bank="$bank" --json | grep -q repo_key; then
  has err " of them the built-in bank $work/share/aoe/bank/op/"
fi
finish
