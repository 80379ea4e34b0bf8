# What the tests of aoe --workers share; sourced behind lib.sh.
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir -p bank w oms
make_model squeezenet --small --image=32 --output=a.onnx >/dev/null || fail "make_model"
make_model resnet50 --small --output=b.onnx >/dev/null || fail "make_model"
cp a.onnx c.onnx # whose tasks are those of the first
tune() { aoe --framework=5 --job_type=2 --preset="$brief" --trials=90 "$@"; }

# when NODES_PATTERN COMMAND...: in the background; runs the command once a node whose name fits has got an order of search
when_at_work() {
  local pattern=$1; shift
  (
    for _ in $(seq 6000); do
      for order in w/aoe_workspace/fleet_*/nodes/$pattern/order; do
        [ -e "$order" ] && grep -q search "$order" && { "$@" "$(basename "$(dirname "$order")")"; exit; }
      done
      read -rt 0.05 <> <(:)
    done
  ) &
}

# all_decided FILE: no task of the result was left, none was decided twice
all_decided() {
  equal "$(json "$1" "{r['tasks']['not_searched'] for r in d['results']}")" "{0}" "tasks that were left"
  equal "$(json "$1" "{r['state'] for r in d['results']}")" "{'tuning successful'}" "states"
  json "$1" "all(len(k) == len(set(k)) for k in ([t['repo_key'] for t in r['task_list']] for r in d['results']))" | grep -q True ||
    fail "a task was counted twice"
  json "$1" "all(r['budget']['trials'] == sum(t['trials'] for t in r['task_list']) for r in d['results'])" | grep -q True ||
    fail "trials are not those of the tasks: $(json "$1" "[(r['budget']['trials'], sum(t['trials'] for t in r['task_list'])) for r in d['results']]")"
  [ "$(json "$1" "sum(r['budget']['trials'] for r in d['results'])")" -gt 20 ] || fail "hardly anything was measured"
  equal "$(json "$1" "[(r['tasks']['known'] == r['tasks']['total'], r['budget']['trials']) for r in d['results'] if r['name'] == 'c']")" \
    "[(True, 0)]" "what is known of the copy of a model, and searched again"
  run 0 aoe_run --model=oms/a.om
  run 0 aoe_run --model=oms/b.om
}
