#!/usr/bin/env bash
# tune.sh MODELS STATE OUT [SECONDS]: a tuning job for continuous integration.
#
#   MODELS   a directory of .onnx files
#   STATE    what is kept from one job to the next (the CI's cache): the banks as files, and the oms accepted last
#   OUT      what this job makes: oms, result files, summary.json
#   SECONDS  wall-clock time for tuning all models; 600 without
#
# Exit codes: 0, all is well; 8, an om is slower than the accepted one beyond the noise, or computes something else; others as
# of aoe (docs/aoe.md). Only oms of jobs that end with 0 are accepted, and what was learned is kept in any case.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
models=$1 state=$2 out=$3 seconds=${4:-600}
min_ratio=${MIN_RATIO:-0.97}
mkdir -p "$state/accepted" "$out/bank"
export TUNE_BANK_PATH=$out/bank ASCEND_WORK_PATH=$out
shopt -s nullglob
list=("$models"/*.onnx)
[ ${#list[@]} -gt 0 ] || { echo "tune.sh: no .onnx in $models" >&2; exit 2; }

restore_banks() {
  for kind in op graph; do
    [ -e "$state/$kind.zst" ] || continue
    # A cache of another kind of machine, or of an older engine that nobody reads, is no reason to stop.
    aoe_bank import "$state/$kind.zst" || echo "tune.sh: $state/$kind.zst is not used" >&2
  done
}

save_banks() {
  for job in 1:graph 2:op; do
    ls -d "$TUNE_BANK_PATH/${job#*:}"/* >/dev/null 2>&1 || continue
    aoe_bank --job_type="${job%:*}" export "$state/${job#*:}.zst.new"
    mv "$state/${job#*:}.zst.new" "$state/${job#*:}.zst"
  done
}

tune() {
  local end=$((SECONDS + seconds)) left=${#list[@]} model name share
  for model in "${list[@]}"; do
    name=$(basename "$model" .onnx)
    share=$(((end - SECONDS) / left))
    left=$((left - 1))
    aoe --framework=5 --model="$model" --job_type=2 --time_limit=$((share > 1 ? share : 1)) \
      --result="$out/$name.json" --output="$out/$name" --progress_bar=off
  done
}

compare() {
  local pairs=() model name
  for model in "${list[@]}"; do
    name=$(basename "$model" .onnx)
    [ -e "$state/accepted/$name.om" ] && pairs+=("$name=$state/accepted/$name.om,$out/$name.om")
  done
  [ ${#pairs[@]} -gt 0 ] || return 0
  aoe_compare --json --min_ratio="$min_ratio" "${pairs[@]}" >"$out/compare.json"
}

summary() {
  python3 - "$out" "$1" <<'PYTHON'
import glob, json, os, sys
out, code = sys.argv[1], int(sys.argv[2])
models = {}
for path in sorted(glob.glob(os.path.join(out, "*.json"))):
    document = json.load(open(path))
    if not isinstance(document, dict) or document.get("schema") != "aoe.result":
        continue
    result = document["results"][0]
    models[os.path.basename(path)[:-5]] = {
        "state": result["state"], "tasks": result["tasks"], "model": result["model"], "budget": result["budget"]}
compare = os.path.join(out, "compare.json")
summary = {"exit_code": code, "models": models, "compare": json.load(open(compare)) if os.path.exists(compare) else None}
json.dump(summary, open(os.path.join(out, "summary.json"), "w"), indent=2)
for name, model in models.items():
    tasks = model["tasks"]
    print(f"{name}: {model['state']}; {tasks['known']} of {tasks['total']} tasks known, {tasks['won']} won")
PYTHON
}

restore_banks
tune
save_banks
code=0
compare || code=$?
summary "$code"
if [ "$code" -eq 0 ]; then
  for model in "${list[@]}"; do cp "$out/$(basename "$model" .onnx).om" "$state/accepted/"; done
fi
exit "$code"
