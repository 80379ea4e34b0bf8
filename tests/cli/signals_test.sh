# SIGINT, SIGTERM and SIGHUP in any phase: exit code 130, one line, nothing half-written and no temporary files.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --image=64 --output=m.onnx >/dev/null || fail "make_model"
run 0 atc --framework=5 --model=m.onnx --output=m
make_model resnet50 --output=large.onnx >/dev/null || fail "make_model"
mkdir tmp out_dir bank
export TMPDIR=$work/tmp TUNE_BANK_PATH=$work/bank

# interrupt SIGNAL DELAY_S COMMAND...: exit code 130, or 0 when it was faster.
interrupt() {
  local code
  code=$(python3 "$here/interrupt.py" "$@" 2>err | tail -1)
  case $code in
    130) equal "$(tail -1 err)" "$program: interrupted" "stderr after SIG$*" ;;
    0) fast=$((fast + 1)) ;;
    *) fail "exit code $code after SIG$*: $(head -3 err)" ;;
  esac
  equal "$(ls tmp | grep -v ^aoe_measuring_)" "" "temporary files after SIG$*"  # that of base/measuring_notice.h stays
  equal "$(find . -name '*.tmp*')" "" "unfinished files after SIG$*"
}

fast=0
program=atc
for delay in 0 0.1 0.3 0.6 1; do
  rm -f large.om
  interrupt TERM $delay atc --framework=5 --model=large.onnx --output=large
  [ ! -e large.om ] || run 0 atc --mode=6 --om=large.om
done
program=aoe_quantize
for delay in 0 0.5 2; do
  rm -f q.onnx
  interrupt INT $delay aoe_quantize --model=large.onnx --random=8 --output=q.onnx 
  [ ! -e q.onnx ] || run 0 atc --framework=5 --model=q.onnx --output=q
done
program=make_model
interrupt HUP 0.05 make_model vgg16 --output=v.onnx
rm -f v.onnx
[ "$fast" -lt 9 ] || fail "no signal came in time"

# These would run on for long.
fast=0
program=aoe_run
for signal in INT TERM HUP; do
  interrupt $signal 0 aoe_run --model=m.om --repeat=100000000
  interrupt $signal 0.3 aoe_run --model=m.om --warmup=100000000 --output-dir=out_dir
  interrupt $signal 0.3 aoe_run --model=m.om --seconds=1000 --streams=2 --threads=1 --output-dir=out_dir
done
equal "$(ls out_dir)" "" "outputs of a run that was interrupted"
program=aoe_compare
interrupt TERM 0.5 aoe_compare same=m.om,m.om --rounds=100000
equal "$fast" 0 "runs that should have gone on"

# Processor time that is used up ends a program as a signal does, also where the shell's limit is that at which the system kills.
for limit in "-St 1" "-t 3"; do
  run 130 bash -c "ulimit $limit; exec aoe_run --model=m.om --seconds=1000"
  equal "$(cat err)" "aoe_run: interrupted: its processor time is used up; raise ulimit -t" "stderr at the end of processor time"
done

# Who was started to ignore a signal goes on ignoring it, as under nohup.
python3 -c 'import os, signal, subprocess, sys, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
time.sleep(0.5)
os.kill(process.pid, signal.SIGHUP)
sys.exit(process.wait())' aoe_run --model=m.om --seconds=1 || fail "SIGHUP was not ignored"

# msprof keeps what was collected until then; its program's exit status is its own.
equal "$(python3 "$here/interrupt.py" TERM 0.5 msprof --output=system --sys-period=1000 --sys-profiling=on | tail -1)" 130 "msprof --sys-period"
exists "$(echo system/PROF_*)/host/end_info"
equal "$(python3 "$here/interrupt.py" HUP ran msprof --output=program sh -c 'aoe_run --model=m.om; touch ran; exec sleep 1000' 2>&1 | tail -1)" 129 "msprof of a program"
exists "$(echo program/PROF_*/msprof_*.db)"
program=msprof # at work on what is collected
for delay in 0 0.1 0.4; do
  interrupt HUP $delay msprof --output=exported aoe_run --model=m.om --repeat=500
done
PROFILING_MODE=dynamic aoe_run --model=m.om --seconds=600 >/dev/null 2>&1 &
app=$!
mkfifo commands
exec 9<>commands # open for writing all the time: the commands do not end
echo start >&9
equal "$(python3 "$here/interrupt.py" TERM 'dynamic/PROF_*/host/start_info' msprof --output=dynamic --export=off --dynamic=on --pid=$app <&9 2>err |
  tail -1)" 130 "msprof --dynamic"
exec 9>&-
exists "$(echo dynamic/PROF_*)/host/end_info"
kill $app 2>/dev/null
wait $app 2>/dev/null
equal "$(find . -name '*.tmp*')$(ls tmp | grep -v ^aoe_measuring_)" "" "what msprof has left"

# aoe ends without a result while it reads the model; on a busy machine the end may come later, and the result says so.
ended_early() {
  if ls aoe_result_* >/dev/null 2>&1; then
    has "$(ls aoe_result_opat_*)" "tuning incomplete"
    rm aoe_result_*
  else
    has err 'stopped before anything was measured'
  fi
}
tune=(aoe --framework=5 --model=large.onnx --job_type=2 --progress_bar=off)
equal "$(python3 "$here/interrupt.py" TERM 0 "${tune[@]}" 2>err | tail -1)" 130 "aoe while it reads the model"
ended_early
run 130 bash -c 'ulimit -St 1; exec "$@"' limited "${tune[@]}" --preset="$brief"
has err '^aoe: interrupted: its processor time is used up; raise ulimit -t$'
ended_early
finish
