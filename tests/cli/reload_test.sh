# --reload goes on with an interrupted job: what it measured is not measured again, and one result says it all.
source "$(dirname "$0")/lib.sh"

make_model resnet50 --small --output=m.onnx >/dev/null || fail "make_model"
make_model squeezenet --small --image=32 --output=other.onnx >/dev/null || fail "make_model"
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w
tune() { aoe --framework=5 --model=m.onnx --job_type=2 --progress_bar=off --preset="$brief" "$@"; }
opat() { json "$1" "next(e['OPAT'] for e in d if 'OPAT' in e)$2"; }

# Killed when two tasks are decided.
aoe --framework=5 --model=m.onnx --job_type=2 --progress_bar=off --preset="$brief" --trials=100000 >out 2>err &
pid=$!
for _ in $(seq 3000); do
  [ "$(cat w/aoe_workspace/m_*/job.jsonl 2>/dev/null | grep -c '"verdict"')" -ge 2 ] && break
  kill -0 $pid 2>/dev/null || break
  sleep 0.1
done
kill -KILL $pid; wait $pid 2>/dev/null
job=$(ls w/aoe_workspace); result=$(ls w/aoe_result_opat_*.json)
equal "$(opat "$result" "['opat_tuning_result']")" "tuning incomplete" "result of the interrupted run"
measured() { grep -o '"trials":[0-9]*}' "w/aoe_workspace/$job/job.jsonl" | tail -1 | tr -dc 0-9; }
before=$(measured)
[ "$before" -gt 0 ] || fail "nothing was measured before"
candidates() { python3 - "w/aoe_workspace/$job/job.jsonl" <<'PY'
import json, sys
seen = []
for line in open(sys.argv[1]):
    try: entry = json.loads(line)
    except ValueError: continue
    for record in entry.get("records", []):
        s = record["strategy"]
        seen.append((entry["task"], s["format"], s["impl"], json.dumps(s["schedule"])))
print(len(seen), len(set(seen)))
PY
}

# What it cannot go on with is refused by name, and nothing is left behind.
refuses 2 "--reload=nowhere: there is no such job" tune --reload=nowhere
refuses 2 "did you mean $job?" tune --reload="${job%?}x"
mkdir empty
refuses 2 "empty: is no job to go on with" tune --reload=empty
refuses 2 "is a job of another model (m)" aoe --model=other.onnx --job_type=2 --reload="w/aoe_workspace/$job"
refuses 2 "is a job of --job_type=2" aoe --model=m.onnx --job_type=1 --reload="$job"
refuses 2 "has measured on " tune --threads=1 --reload="$job"

# Without a value the most recent job of this model; another model has none and starts anew.
aoe --model=other.onnx --job_type=2 --progress_bar=off --preset="$brief" --trials=2 --reload >out 2>err || fail "other.onnx"
has err "there is no job of this model in .*: tuning starts anew"
ls w/aoe_result_opat_*.json | grep -v "$(basename "$result")" | xargs rm -f
run 0 tune --search_limit=3600 --reload
equal "$(ls w/aoe_result_opat_*.json)" "$result" "one result"
equal "$(ls w/aoe_workspace | grep -c '^m_')" 1 "one job"
equal "$(opat "$result" "['opat_tuning_result']")" "tuning successful" "result of the whole"
equal "$(opat "$result" "['repo_summary']['repo_hit_num']")" 0 "hits: the bank knew nothing before the job"
read -r all distinct < <(candidates)
equal "$all" "$distinct" "measurements, and different ones among them"
equal "$(json "$result" "d[0]['basic']['trials']")" "$(measured)" "trials of both parts"
[ "$(measured)" -ge "$before" ] || fail "fewer trials than before"
exists "w/aoe_workspace/$job/tunespace/result/${job}_tune.om"
[ ! -e "w/aoe_workspace/$job/tunespace/scratch" ] || fail "scratch files are left"

# A job that has ended is none to go on with.
refuses 2 "the job has ended (tuning successful)" tune --reload="$job"
run 0 tune --trials=2 --reload
has err "the job has ended .*: tuning starts anew"
finish
