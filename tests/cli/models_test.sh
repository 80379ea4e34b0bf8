# Many models in one session: equal tasks once, a result for each, and one that is broken keeps no other from being tuned.
source "$(dirname "$0")/lib.sh"

export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir -p bank w one two oms
make_model squeezenet --small --image=32 --output=one/net.onnx >/dev/null || fail "make_model"
cp one/net.onnx two/net.onnx
head -c 300 one/net.onnx >broken.onnx
printf '# of one team\none/net.onnx\n\n  broken.onnx \nmissing.onnx\ntwo/net.onnx\n' >models.txt
tune() { aoe --framework=5 --job_type=2 --preset="$brief" "$@"; }

# The list is checked before anything runs.
refuses 3 "empty.txt: cannot be opened" tune --models=empty.txt
: >none.txt
refuses 2 "--models none.txt: lists no model" tune --models=none.txt
refuses 2 "two models are called one_net" tune --models=one/net.onnx,one/net.onnx
refuses 2 "--model: and --models exclude each other" tune --models=models.txt --model=one/net.onnx
refuses 2 "are fewer than the models" tune --models=models.txt --trials=3

# REPEAT_TUNE searches what the bank knows, but nothing twice in one session.
REPEAT_TUNE=True run 3 tune --models=models.txt --trials=60 --search_limit=3600 --output=oms --result=r.json
has err '^model one_net \(1 of 4\)$'
has err '^model two_net \(4 of 4\)$'
has err 'model broken \(2 of 4\): '
has err 'model missing \(3 of 4\): '
has err '2 of 4 models failed; broken: '
equal "$(json r.json "[r['name'] for r in d['results']]")" "['one_net', 'two_net']" "results"
equal "$(json r.json "[(f['name'], f['exit_code']) for f in d['failures']]")" "[('broken', 3), ('missing', 3)]" "failures"
equal "$(ls oms | tr '\n' ' ')" "one_net.om two_net.om " "oms"
equal "$(ls w/aoe_result_opat_*.json | wc -l)" 2 "documented results"
first=$(json r.json "d['results'][0]['budget']['trials']")
[ "$first" -gt 0 ] && [ "$first" -le 60 ] || fail "$first trials of the first model"
searched=$(json r.json "len([t for t in d['results'][0]['task_list'] if t['trials'] > 0 and t['repo_key'] in {u['repo_key'] for u in d['results'][1]['task_list'] if u['trials'] > 0}])")
equal "$searched" 0 "tasks that were searched twice"
total=$(json r.json "sum(r['budget']['trials'] for r in d['results'])")
[ "$total" -le 60 ] || fail "$total trials of 60"
has out '^model +before\(ms\) +after\(ms\) +gain +tasks +known +trials +result$'
has out '^two_net +[0-9.]+ '
finish
