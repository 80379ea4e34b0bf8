# --tune_ops_file: what it lists is tuned and nothing else; what it gets wrong is told.
source "$(dirname "$0")/lib.sh"

make_model mobilenetv2 --small --output=m.onnx >/dev/null || fail "make_model"
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w
tune() { aoe --framework=5 --model=m.onnx --job_type=2 --progress_bar=off --trials=2 --tune_ops_file=ops.json "$@"; }
lists() { echo "$1" >ops.json; }

lists '{"tune_ops_name": ["/features/features.1/conv/conv.1/Conv"]}'
run 0 tune --preset="$brief"
has out '^1 tasks, '

# A name that the model does not have, and what may have been meant.
lists '{"tune_ops_name": ["/features/features.1/conv/conv.1/Conf"]}'
refuses 2 "--tune_ops_file ops.json: the model has no operator of the name '/features/features.1/conv/conv.1/Conf'" tune
has err 'did you mean /features/features\.1/conv/conv\.1/Conv'
for job in 1 2; do
  lists '{"tune_ops_name": ["features.1/conv/conv.1/Conv"]}'
  refuses 2 "did you mean /features/features.1/conv/conv.1/Conv" \
    aoe --framework=5 --model=m.onnx --job_type=$job --tune_ops_file=ops.json
done
lists '{"tune_ops_type": ["Conv"]}'
refuses 2 "did you mean Conv2D?" tune
# A type that only this model lacks may be meant for another one.
lists '{"tune_ops_type": ["FlashAttentionScore"], "tune_ops_name": ["/features/features.1/conv/conv.1/Conv"]}'
run 0 tune --preset="$brief"
has err "has no operator of the type 'FlashAttentionScore'"

# The keys of the adapters say how hard to search.
searched_deeper() {
  run 0 tune --time_limit=2 --result=r.json
  equal "$(json r.json "d['results'][0]['preset']")" deep "preset"
}
lists '{"feature": ["deeper_opat"], "tune_ops_name": ["/features/features.1/conv/conv.1/Conv"]}'
searched_deeper
refuses 2 "--preset: and deeper_opat of --tune_ops_file exclude each other" tune --preset="$brief"
lists '{"tune_optimization_level": "O1", "tune_ops_name": ["/features/features.1/conv/conv.1/Conv"]}'
searched_deeper
refuses 2 "O2 contradicts O1" tune --tune_optimization_level=O2
lists '{"tune_optimization_level": "O3"}'
refuses 2 '"tune_optimization_level": unknown "O3"' tune
lists '{"feature": ["deeper_opt"]}'
refuses 2 'did you mean deeper_opat?' tune
lists '{"feature": "deeper_opat"}'
refuses 2 '"feature" must be a list of texts' tune

lists '{"tune_ops_nam": ["x"]}'
refuses 2 'unknown key "tune_ops_nam"; did you mean tune_ops_name' tune
lists '{"tune_ops_name": []}'
refuses 2 'lists no operator' tune
lists '[]'
refuses 2 'must be a JSON object' tune
lists '{'
refuses 2 'is not valid JSON' tune
rm ops.json
refuses 2 'ops.json' tune
# What is not tuned may take what won for another size; the model keeps it unless it is slower with it.
# Of which sizes the defaults differ, and may win, depends on the processor.
mkdir near
for image in 192 160; do
  make_model mobilenetv2 --small --image=$image --output=other.onnx >/dev/null || fail "make_model"
  run 0 aoe_fill_bank other.onnx near 2
done
lists '{"tune_ops_name": ["/features/features.1/conv/conv.1/Conv"]}'
TUNE_BANK_PATH=near run 0 tune --preset="$brief" --output=tuned --op_bank_near=on
has err '[1-9][0-9]* ops take what won for the nearest shape|is not faster than the untuned one'

finish
