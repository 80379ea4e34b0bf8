# The tuning job of examples/ci: the second time it knows all tasks, compares, and what is slower fails it.
# Alone: beside another test it waits for a calm machine, and takes twice as long.
source "$(dirname "$0")/lib.sh"
job=$here/../../examples/ci/tune.sh

mkdir models
make_model squeezenet --small --image=32 --output=models/squeezenet.onnx >/dev/null || fail "make_model"
make_model mlp-training --small --output=models/mlp.onnx >/dev/null || fail "make_model"
export MIN_RATIO=0.01  # times say nothing on a busy machine

run 0 "$job" models state out1 12
exists state/op.zst
exists state/accepted/squeezenet.om
equal "$(json out1/summary.json "[d['exit_code'], d['compare'], sorted(d['models'])]")" "[0, None, ['mlp', 'squeezenet']]" "the first summary"

run 0 "$job" models state out2 12
# What made a model faster is known the next time; on a busy machine that may be nothing.
faster=$(json out1/summary.json "[name for name, m in d['models'].items() if (m['model'] or {}).get('verdict') == 'faster']")
equal "$(json out2/summary.json "[name for name in $faster if d['models'][name]['tasks']['known'] == 0]")" "[]" "faster, and not known the second time"
equal "$(json out2/summary.json "[len(d['compare']['pairs']), d['compare']['schema']]")" "[2, 'aoe.compare']" "the comparison"

# No om is a thousand times as fast as itself.
before=$(cksum <state/accepted/mlp.om)
MIN_RATIO=1000 run 8 "$job" models state out3 4
equal "$(json out3/summary.json "[d['exit_code'], all(p['is_regression'] for p in d['compare']['pairs'])]")" "[8, True]" "a regression"
equal "$(cksum <state/accepted/mlp.om)" "$before" "the accepted om"

# A cache that is damaged costs what it held, and is said.
echo damaged >state/op.zst
run 0 "$job" models state out4 4
has err 'state/op.zst is not used'
run 2 "$job" nowhere state out5
finish
