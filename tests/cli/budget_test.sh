# What a limit means, what is said of a run that it has ended, and the result file for programs.
# Alone: beside another test it waits for a calm machine, and takes twice as long.
source "$(dirname "$0")/lib.sh"

make_model resnet50 --small --output=m.onnx >/dev/null || fail "make_model"
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w
tune() { aoe --framework=5 --model=m.onnx --job_type=2 "$@"; }
documented() { json "$(ls w/aoe_result_opat_*.json)" "$1"; }

# A search that ends at once: one line for what it left, no success, and an om none the less. `--reload` would go on.
run 0 tune --preset="$brief" --search_limit=0.001 --result=r.json --output=tuned
has err '^the search has ended: [0-9]+ of [0-9]+ tasks were not searched to the end \('
grep -q "nothing measured" err && fail "tasks without a turn are listed"
[ "$(wc -l <err)" -lt 10 ] || fail "$(wc -l <err) lines of progress"
has out '^[0-9]+ of [0-9]+ tasks were not searched to the end, because of the limit of the search; --reload goes on$'
exists tuned.om
tasks=$(json r.json "d['results'][0]['tasks']['total']")
[ "$tasks" -gt 5 ] || fail "$tasks tasks"
left=$(json r.json "d['results'][0]['tasks']['not_searched']")
[ "$left" -gt 0 ] && [ "$left" -ge $((tasks - 1)) ] || fail "$left of $tasks tasks had no turn"
equal "$(json r.json "d['results'][0]['budget']['ended_by']")" search_limit "ended_by"
equal "$(documented "d[0]['basic']['ended_by']")" search_limit "ended_by"
equal "$(documented "d[1]['OPAT']['opat_tuning_result']")" "tuning incomplete" "state"
equal "$(documented "d[1]['OPAT']['repo_summary']['repo_not_searched_num']")" "$left" "not searched"
equal "$(documented "d[1]['OPAT']['repo_summary']['total_num']")" $((tasks - left)) "decided"

# One verdict, here and there.
rm -r w bank; mkdir w bank
run 0 tune --preset="$brief" --trials=40 --search_limit=3600 --progress_bar=off --result=r.json
equal "$(json r.json "d['schema'], d['version'], len(d['results'])")" "aoe.result 1 1" "top of the result"
one() { json r.json "d['results'][0]$1"; }
equal "$(one "['model']['improvement']")" "$(documented "d[1]['OPAT']['model_performance_improvement']")" "improvement"
has out "^verdict: $(one "['model']['verdict']"), $(one "['model']['improvement']") \("
equal "$(one "['model']['verdict']")" "$(documented "d[0]['basic']['verdict']")" "verdict"
case $(one "['model']['verdict']") in
  faster) has out "^m process finished\. Performance improved by $(one "['model']['improvement']")$" ;;
  *) equal "$(one "['model']['improvement']")" "0.00%" "what is not proven"
     [ "$(one "['model']['reason']")" != None ] || fail "no reason" ;;
esac
equal "$(one "['aoe_result']")" "$work/$(ls w/aoe_result_opat_*.json)" "the documented file"
exists "$(one "['om']")"
equal "$(one "['output']")" None "output"
exists "$(one "['bank']")"
equal "$(one "['budget']['trials']")" "$(documented "d[0]['basic']['trials']")" "trials"
equal "$(one "['budget']['max_trials']")" 40 "max_trials"
equal "$(one "['tasks']['won']")" "$(json r.json "len(d['results'][0]['ops'])")" "rows of ops"
json r.json "[op['speedup_interval'][0] <= op['speedup'] <= op['speedup_interval'][1] for op in d['results'][0]['ops']]" | grep -q False &&
  fail "a speedup outside its interval"
refuses 6 "nowhere/r.json" tune --trials=1 --result=nowhere/r.json

# On a terminal the clock ticks, whatever the run is at, and the limit only counts down.
if command -v script >/dev/null; then
  rm -r w bank; mkdir w bank
  script -qefc "aoe --framework=5 --model=m.onnx --job_type=2 --preset=$brief --trials=40 --time_limit=300" tty >/dev/null ||
    fail "aoe on a terminal"
  python3 - tty <<'PY' || fail "the terminal's clock"
import re, sys
text = open(sys.argv[1], errors="replace").read()
seconds = lambda m: int(m[0]) * 60 + int(m[1])
elapsed = [seconds(m) for m in re.findall(r"(\d+):(\d\d) elapsed", text)]
limits = [seconds(m) for m in re.findall(r"limit in (\d+):(\d\d)", text)]
assert elapsed and elapsed == sorted(elapsed), elapsed
assert limits and limits == sorted(limits, reverse=True), limits
steps = [b - a for a, b in zip(elapsed, elapsed[1:])]
print(len(set(elapsed)), "seconds shown, largest step", max(steps, default=0))
assert len(set(elapsed)) > 1
PY
  # What is logged meanwhile stands on lines of its own. So soon not even the untuned model is measured, which is a warning.
  script -qefc "stty cols 80; aoe --framework=5 --model=m.onnx --job_type=2 --time_limit=0.3" tty >/dev/null || fail "aoe in no time"
  python3 - tty <<'PY' || fail "a warning stands behind the clock"
import sys
shown = [line.split("\r\033[K")[-1] for line in open(sys.argv[1], newline="", errors="replace").read().split("\n")]
warnings = [line for line in shown if "the time was up" in line]
assert warnings, shown
assert not any("elapsed" in line for line in warnings), warnings
PY
fi

# The whole run ends in time: a minute more is more than any machine that runs tests needs for what cannot be cut off.
rm -r w bank; mkdir w bank
begin=$SECONDS
run 0 tune --time_limit=10 --preset=deep --progress_bar=off --result=r.json
[ $((SECONDS - begin)) -le 70 ] || fail "--time_limit=10 took $((SECONDS - begin)) s"
equal "$(one "['budget']['ended_by']")" time_limit "ended_by"
equal "$(one "['budget']['time_limit_s']")" 10.0 "time_limit_s"
equal "$(one "['budget']['search_limit_s']")" None "search_limit_s"
equal "$(one "['state']")" "tuning incomplete" "state"
has out "^[0-9]+ of [0-9]+ tasks were not searched to the end, because of the time limit; --reload goes on$"

# So short that nothing is measured: an untuned om where it was wanted, and no word of anything won.
run 0 tune --time_limit=0.01 --progress_bar=off --output=untuned
exists untuned.om
has out '^output: untuned\.om$'
has out '^Aoe process stopped before the end; nothing was measured$'

# Subgraphs, too; and several models share the time.
mkdir models
make_model squeezenet --small --image=32 --output=models/a.onnx >/dev/null
make_model mobilenetv2 --small --image=64 --output=models/b.onnx >/dev/null
begin=$SECONDS
run 0 aoe --framework=5 --model_path=models --job_type=1 --time_limit=6 --preset=deep --progress_bar=off --result=r.json --log=info
[ $((SECONDS - begin)) -le 66 ] || { fail "--time_limit=6 of two models took $((SECONDS - begin)) s"; cut -c1-150 err; }
equal "$(json r.json "[r['name'] for r in d['results']]")" "['a', 'b']" "models"
finish
