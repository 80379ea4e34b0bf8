# The main job on a small model: tune, tune again, compile with the bank, run.
# Alone: beside another test it waits for a calm machine, and takes twice as long.
source "$(dirname "$0")/lib.sh"

make_model mobilenetv2 --small --output=m.onnx >/dev/null || fail "make_model"
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w
tune() { aoe --framework=5 --model=m.onnx --job_type=2 --preset=quick --progress_bar=off --trials=60 --search_limit=3600 --seed=1 "$@"; }

# What a run wins without proving it waits for the next one, which measures it before it counts as known.
waits() { grep -q "waits in the bank for the next run" err && echo 1 || echo 0; }
# hits FILE COUNT SOME_WAIT WHAT
hits() {
  local found
  found=$(summary "$1" repo_hit_num)
  if [ "$3" = 0 ]; then equal "$found" "$2" "$4"; else [ "$found" -le "$2" ] || fail "$4: $found, more than $2"; fi
}

run 0 tune --output=tuned --log=info
roofs=measured
grep -q "its roofs are left to a calmer run" err && roofs=assumed
waiting=$(waits)
# On a busy machine nothing may prove faster; then there is no percentage.
has out '^m process finished\. Performance improved by [0-9.]+%$|^Aoe process finished$'
exists tuned.om
first=$(ls w/aoe_result_opat_*_pid*.json) || fail "no result"
[[ $(basename "$first") =~ ^aoe_result_opat_[0-9]{17}_pid[0-9]+\.json$ ]] || fail "name of the result: $first"
om=$(find w/aoe_workspace -name '*_tune.om')
[[ $om =~ /aoe_workspace/m_[0-9]+/tunespace/result/m_[0-9]+_tune\.om$ ]] || fail "place of the om: $om"
trials=$(json "$first" "d[0]['basic']['trials']")
[ "$trials" -le 60 ] || fail "$trials trials, more than --trials"
has out " $trials trials$"
run 0 atc --framework=5 --model=m.onnx --output=banked
run 0 atc --mode=6 --om=banked.om
has out '^machine  info: peak_gflops\[[0-9.]+\], memory_gb_s\[[0-9.]+\], roofs\['$roofs'\]\.$'
mkdir empty
run 0 env TUNE_BANK_PATH="$work/empty" atc --framework=5 --model=m.onnx --output=unbanked
run 0 atc --mode=6 --om=unbanked.om
has out 'roofs\[assumed\]'
summary() { json "$1" "next(e['OPAT'] for e in d if 'OPAT' in e)['repo_summary']['$2']"; }
for file in "$first"; do
  equal "$(json "$file" "next(e['OPAT'] for e in d if 'OPAT' in e)['opat_tuning_result']")" "tuning successful" "state"
  equal "$(summary "$file" total_num)" \
    "$(($(summary "$file" repo_add_num) + $(summary "$file" repo_hit_num) + $(summary "$file" repo_unsatisfied_num)))" "total_num"
  equal "$(summary "$file" repo_hit_num)" \
    "$(($(summary "$file" repo_update_num) + $(summary "$file" repo_reserved_num)))" "repo_hit_num"
done
added=$(summary "$first" repo_add_num)
# Whether anything beats the default is the machine's affair; that tasks were searched is not.
[ "$(summary "$first" total_num)" -gt 0 ] || fail "no task was searched"
equal "$(aoe_bank list --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))')" "$added" "tasks in the bank"

rm "$first"
run 0 tune
second=$(ls w/aoe_result_opat_*_pid*.json)
hits "$second" "$added" "$waiting" "hits of the second run"
equal "$(summary "$second" repo_reserved_num)" "$(summary "$second" repo_hit_num)" "reserved of the second run"
waiting=$((waiting + $(waits)))

# Asked to, it tunes them again: each is updated or stays; what the second run added is hit as well.
second_copy=second.json
mv "$second" "$second_copy"
run 0 env REPEAT_TUNE=True aoe --framework=5 --model=m.onnx --job_type=2 --preset=quick --progress_bar=off --trials=60 --search_limit=3600
third=$(ls w/aoe_result_opat_*_pid*.json)
[ "$(json "$third" "d[0]['basic']['trials']")" -gt 0 ] || fail "REPEAT_TUNE=True measured nothing"
[ "$(json "$third" "d[0]['basic']['trials']")" -le 60 ] || fail "more trials than --trials"
known=$((added + $(summary "$second_copy" repo_add_num)))
hits "$third" "$known" "$waiting" "hits of the repeated run"
equal "$(($(summary "$third" repo_update_num) + $(summary "$third" repo_reserved_num)))" "$(summary "$third" repo_hit_num)" \
  "updated and reserved"

run 0 atc --framework=5 --model=m.onnx --output=compiled --log=info
has err 'bank'
run 0 atc --mode=6 --om=compiled.om
run 0 aoe_run --model=compiled.om --repeat=5 --output-dir=o
tail -1 out >last
has last '^latency_ms median=[0-9.]+ min=[0-9.]+ max=[0-9.]+ repeat=5$'
ls o/*.npy >/dev/null || fail "no outputs"

# The same inputs through the untuned om give the same answer.
unset TUNE_BANK_PATH
run 0 atc --framework=5 --model=m.onnx --output=untuned
run 0 aoe_run --model=untuned.om --repeat=1 --output-dir=u
for tuned in o/*.npy; do
  python3 - "$tuned" "u/$(basename "$tuned")" <<'PY' || fail "tuned and untuned differ: $tuned"
import struct, sys
def load(path):
    data = open(path, 'rb').read()
    header = struct.unpack('<H', data[8:10])[0]
    return [v[0] for v in struct.iter_unpack('<f', data[10 + header:])]
a, b = load(sys.argv[1]), load(sys.argv[2])
spread = max(b) - min(b) or 1.0
sys.exit(0 if len(a) == len(b) and all(abs(x - y) <= 1e-4 * spread for x, y in zip(a, b)) else 1)
PY
done
finish
