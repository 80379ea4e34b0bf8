# --threads, and OMP_NUM_THREADS without it, in aoe, atc and aoe_run alike.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --image=64 --output=m.onnx >/dev/null || fail "make_model"
export TUNE_BANK_PATH=$work/bank
mkdir bank

# compiled_for N COMMAND...: the om that atc makes is for N threads.
compiled_for() {
  local wanted=$1; shift
  run 0 "$@" --framework=5 --model=m.onnx --output=m
  run 0 atc --mode=6 --om=m.om
  has out "soc_version\[x86_64-[a-z0-9-]+-${wanted}t\].*threads\[$wanted\]"
}
compiled_for 3 atc --threads=3
compiled_for 1 env OMP_NUM_THREADS=1 atc
compiled_for 3 env OMP_NUM_THREADS=1 atc --threads=3

# tuned_for N COMMAND...: result and bank are of N threads.
tuned_for() {
  local wanted=$1; shift
  rm -rf aoe_result_* bank/*
  run 0 "$@" --job_type=2 --framework=5 --model=m.onnx --progress_bar=off --preset="$brief" --trials=6
  equal "$(json aoe_result_*.json "d[0]['basic']['threads']")" "$wanted" "threads of the result: $*"
  ls -d bank/op/x86_64-*-"${wanted}t" >/dev/null || fail "no bank of $wanted threads: $*"
}
tuned_for 1 aoe --threads=1
tuned_for 1 env OMP_NUM_THREADS=1 aoe
tuned_for 2 env OMP_NUM_THREADS=1 aoe --threads=2

# ran_with N COMMAND...: aoe_run had N threads at most, and at some moment all of them.
ran_with() {
  local wanted=$1; shift
  equal "$(python3 "$here/count_threads.py" "$@" --model=m.om --seconds=1)" "$wanted" "threads of: $*"
}
compiled_for 2 atc --threads=2
ran_with 2 env -u OMP_NUM_THREADS aoe_run # what it was compiled for
ran_with 1 aoe_run --threads=1
ran_with 3 aoe_run --threads=3
ran_with 3 env OMP_NUM_THREADS=3 aoe_run
ran_with 1 env OMP_NUM_THREADS=3 aoe_run --threads=1
finish
