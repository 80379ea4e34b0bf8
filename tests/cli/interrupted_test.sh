# Whatever ends a tuning run, the result says so, the bank is sound, and what was won stays.
# Alone: beside another test it waits for a calm machine, and takes twice as long.
source "$(dirname "$0")/lib.sh"

make_model resnet50 --small --output=m.onnx >/dev/null || fail "make_model"
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w
state() { json "$1" "next(e['OPAT'] for e in d if 'OPAT' in e)['opat_tuning_result']"; }

worker=$bin/../libexec/aoe/aoe_worker
exists "$worker"
worker=$(readlink -f "$worker")

# The measuring processes of this test's runs of aoe, whatever they call themselves: by program and environment.
workers() {
  local process
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/exe")" = "$worker" ] || continue
    tr '\0' '\n' 2>/dev/null <"$process/environ" | grep -qx "TUNE_BANK_PATH=$TUNE_BANK_PATH" && echo "${process#/proc/}"
  done
}

# interrupt SIGNAL: tunes until the bank has a task, then sends the signal; the exit code stands in $code.
# A shell lets its background jobs ignore SIGINT; python3 undoes that.
interrupt() {
  rm -rf w/aoe_result_* bank/*
  python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' \
    aoe --framework=5 --model=m.onnx --job_type=2 --progress_bar=off --preset=quick --trials=100000 --search_limit=3600 >out 2>err &
  local pid=$!
  local seen=
  for _ in $(seq 3000); do
    [ -n "$seen" ] || seen=$(workers)
    [ "$(aoe_bank list --json 2>/dev/null | grep -c repo_key)" -gt 0 ] && break
    kill -0 $pid 2>/dev/null || break
    sleep 0.1
  done
  [ -n "$seen" ] || fail "aoe had no worker before SIG$1"
  kill -"$1" $pid
  wait $pid; code=$?
}

for signal in TERM KILL INT HUP; do
  interrupt $signal
  [ $signal = KILL ] || equal "$code" 130 "exit code after SIG$signal"
  result=$(ls w/aoe_result_opat_*.json) || fail "no result after SIG$signal"
  equal "$(state "$result")" "tuning incomplete" "result after SIG$signal"
  run 0 aoe_bank list
  has out '^[0-9]{5,}'
done
# The oms of the run that was killed are gone since the next began.
[ -z "$(find w/aoe_workspace -name '*.om' -path '*/scratch/*')" ] || fail "oms of a killed run are left"
# No worker outlives its parent.
for _ in $(seq 50); do [ -n "$(workers)" ] || break; sleep 0.1; done
equal "$(workers)" "" "workers that outlived aoe"
# No model has confirmed what was won: atc does without.
aoe_bank list | grep -q unconfirmed || fail "what was won is not marked"
run 0 atc --framework=5 --model=m.onnx --output=after --log=info
has err ': 0 of [0-9]+ ops hit the bank'

# --reload goes on from there: what was won is confirmed or withdrawn, unless the run says that it proves nothing; the rest is tuned to the end.
won=$(aoe_bank list --json | grep -c repo_key)
rm -r w/aoe_result_*
run 0 aoe --framework=5 --model=m.onnx --job_type=2 --progress_bar=off --preset=quick --trials=20 --search_limit=3600 --reload
result=$(ls w/aoe_result_opat_*.json) || fail "no result of the reloaded run"
equal "$(state "$result")" "tuning successful" "result of the reloaded run"
[ "$won" -gt 0 ] || fail "nothing was won before"
waiting=$(grep -c "waits in the bank for the next run" err)
run 0 aoe_bank list
[ "$waiting" -gt 0 ] || { grep unconfirmed out && fail "the run left something unconfirmed"; }
finish
