# An output that cannot be written, and two oms that cannot be compared, are found before the work begins.
source "$(dirname "$0")/lib.sh"
make_model squeezenet --small --image=32 --output=m.onnx >/dev/null || fail "make_model"
make_model mlp-training --small --output=mlp.onnx >/dev/null || fail "make_model"
mkdir directory
for place in directory nowhere/file; do
  said=$([ $place = directory ] && echo "is a directory" || echo "the directory does not exist")
  refuses 6 "--result $place: $said" aoe --model=m.onnx --framework=5 --job_type=2 --result=$place
  refuses 6 "--output $place: $said" aoe_quantize --model=m.onnx --random=2 --output=$place
done
# Nor is what is read replaced by what is written.
cp m.onnx model.onnx; ln model.onnx linked.onnx
refuses 2 "--result ./model.onnx: is the model; choose another name" aoe --model=model.onnx --job_type=2 --result=./model.onnx
refuses 2 "--result linked.onnx: is the model" aoe --models=m.onnx,model.onnx --job_type=2 --result=linked.onnx
refuses 2 "--result directory/t.om: is the tuned om" aoe --model=m.onnx --job_type=2 --output=directory/t --result=directory/t.om
refuses 2 "--output model.onnx: is the model" aoe_quantize --model=model.onnx --random=2 --output=model.onnx
refuses 2 "--json model.onnx: is the model" atc --mode=1 --framework=5 --om=model.onnx --json=model.onnx
cmp -s m.onnx model.onnx || fail "the model is another one"
echo '{}' >result.json
refuses 2 "--output result.json: is what is reported on" aoe_report result.json --output=result.json
refuses 2 "--preset: and --Fdeeper_opat exclude each other" aoe --model=m.onnx --job_type=2 --Fdeeper_opat --preset=quick
refuses 2 "--preset: and --tune_optimization_level=O1 exclude each other" aoe --model=m.onnx --job_type=2 --tune_optimization_level=O1 --preset=quick
refuses 2 "directory/tuning: there are no presets; let AOE_CONFIG_DIR" env AOE_CONFIG_DIR=directory aoe --model=m.onnx --job_type=2
refuses 5 "m.onnx: TUNE_BANK_PATH names a file, not a directory" env TUNE_BANK_PATH=m.onnx aoe_bank list
refuses 2 "--percentile: 200 is out of range; use 50 to 100" aoe_quantize --model=m.onnx --random=2 --output=q.onnx --percentile=200

run 0 atc --framework=5 --model=m.onnx --output=m
run 0 atc --framework=5 --model=mlp.onnx --output=mlp
# Devices and streams are written, and stay what they are: as root a rename would replace /dev/null itself.
ln -s /dev/null null
ln -s /dev/full full
run 0 atc --mode=1 --om=m.om --json=null
run 0 make_model squeezenet --small --image=32 --output=null
[ -L null ] || fail "a file stands where /dev/null was"
run 0 atc --mode=1 --om=m.om --json=/proc/self/fd/1
grep -q '^{' out || fail "no JSON on standard output: $(head -c 100 out)"
refuses 6 "full: cannot be written: No space left on device" atc --mode=1 --om=m.om --json=full
brief_pair="--rounds=1 --loads=1 --seconds=0.01"
run 0 aoe_compare a=m.om,m.om $brief_pair
refuses 2 "a: outputs of the two oms have other types or shapes" aoe_compare a=m.om,mlp.om --json $brief_pair
refuses 4 "later.om: cannot be opened" aoe_compare a=m.om,m.om b=m.om,later.om
equal "$(cat out)" "" "a missing om is known before the first is measured"
# How many rows are left only a run can tell.
python3 - "$(dirname "$0")/.." <<'PYTHON' || fail "open.onnx"
import sys
sys.path.insert(0, sys.argv[1])
import onnx_writer as onnx
nodes = [onnx.node("ReduceMax", ["x"], ["m"], "m", axes=[1], keepdims=0), onnx.node("NonZero", ["m"], ["n"], "n"),
         onnx.node("Squeeze", ["n", "first"], ["i"], "i"), onnx.node("Gather", ["x", "i"], ["r"], "r"),
         onnx.node("Exp", ["r"], ["y"], "y")]
onnx.write("open.onnx", nodes, [onnx.value("x", 30, 8)], [onnx.value("y", -1, 8)],
           [onnx.tensor("first", [1], [0], onnx.INT64)])
PYTHON
run 0 atc --framework=5 --model=open.onnx --output=open
run 0 aoe_compare a=open.om,open.om $brief_pair
refuses 2 "--seconds: must be more than 0" aoe_compare a=m.om,m.om --seconds=0
refuses 2 "--limit: must be at least 0" aoe_compare a=m.om,m.om --limit=-1
refuses 2 "--min_ratio: must be at least 0" aoe_compare a=m.om,m.om --min_ratio=-1
refuses 2 "--threads: -1 is out of range" aoe_compare a=m.om,m.om --threads=-1
refuses 2 "is not NAME=BEFORE.om,AFTER.om" aoe_compare =m.om,m.om
finish
