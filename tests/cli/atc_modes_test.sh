# Modes 1, 3, 5 and 30 of atc, and --singleop.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --image=64 --output=m.onnx >/dev/null || fail "make_model"
run 0 atc --model=m.onnx --output=m

# 1: an om, or a model, to JSON.
run 0 atc --mode=1 --om=m.om --json=om.json
equal "$(cat out)" "ATC run success, welcome to the next use." "message"
equal "$(json om.json "d['graph'][0]['op'][0]['type']")" Data "the first op of an om"
equal "$(json om.json "len([o for o in d['graph'][0]['op'] if o['type'].startswith('Conv2D')]) > 3")" True "convolutions of an om"
json om.json "[o['output_desc'][0]['dtype'] for o in d['graph'][0]['op'] if o['type'] == 'Data']" | grep -q DT_FLOAT || fail "type of an input"
run 0 atc --mode=1 --model=m.onnx --json=onnx.json
run 0 atc --mode=1 --om=m.onnx --framework=5 --json=framework.json
cmp -s onnx.json framework.json || fail "--framework=5 with --om is not as --model"
run 0 atc --mode=1 --model=m.onnx --json=shapes.json --dump_mode=1
equal "$(json onnx.json "[o for o in d['graph'][0]['op'] if o['name'].endswith('features.1/Relu')][0]['src_name']")" \
  "['/features/features.0/Conv']" "who makes an input"
equal "$(json onnx.json "'output_desc' in d['graph'][0]['op'][0]")" False "shapes without --dump_mode"
equal "$(json shapes.json "d['graph'][0]['op'][0]['output_desc'][0]['shape']['dim']")" "[1, 3, 64, 64]" "shapes"
equal "$(json shapes.json "d['graph'][0]['op'][-1]['type']")" NetOutput "the last op"
refuses 2 --json atc --mode=1 --om=m.om
refuses 2 "give one of the two" atc --mode=1 --json=x.json
refuses 4 m.onnx atc --mode=1 --om=m.onnx --json=x.json
refuses 6 nowhere atc --mode=1 --om=m.om --json=nowhere/x.json

# 3: every node is checked, nothing is converted.
run 0 atc --mode=3 --model=m.onnx
equal "$(json check_result.json "d['result']")" success "a good model"
equal "$(json check_result.json "all(o['result'] == 'success' for o in d['op']) and len(d['op']) > 20")" True "its nodes"
python3 "$here/bad_models.py"
run 3 atc --mode=3 --model=unsupported.onnx --check_report=bad.json
has err 'unsupported.onnx: 2 unsupported operators'
equal "$(json bad.json "d['result'], [(o['op_name'], o['op_type'], o['result']) for o in d['op']]")" \
  "failed [('odd_one', 'FancyThing', 'failed'), ('odd_two', 'OtherThing', 'failed')]" "unsupported operators"
equal "$(json bad.json "d['op'][0]['cause'][0]['code']")" 1 "the code of a cause"
run 3 atc --mode=3 --model=contradiction.onnx --check_report=bad.json
equal "$(json bad.json "d['op'][-1]['op_name'], d['op'][-1]['result']")" "mm failed" "where shapes contradict"
mkdir work
run 0 env ASCEND_WORK_PATH=work atc --mode=3 --model=m.onnx
exists work/check_result.json
refuses 3 absent.onnx atc --mode=3 --model=absent.onnx --check_report=none.json

# 5: a model as text.
cat >m.pbtxt <<'TXT'
ir_version: 8
graph {
  name: "g"
  node { input: "x" output: "y" name: "r" op_type: "Relu" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
}
opset_import { version: 13 }
TXT
run 0 atc --mode=5 --om=m.pbtxt --json=text.json
equal "$(json text.json "[(o['name'], o['type']) for o in d['graph'][0]['op']]")" \
  "[('x', 'Data'), ('r', 'Relu'), ('Node_Output', 'NetOutput')]" "a model as text"
printf 'op { name: "x" }\n' >ge_proto_0.txt
refuses 3 "is not an ONNX model as protobuf text at line 1" atc --mode=5 --om=ge_proto_0.txt --json=x.json
refuses 2 "is no text of a model" atc --mode=5 --om=m.om --json=x.json

# 30: without what only reports need it runs all the same.
run 0 atc --mode=30 --om=m.om --output=split
exists split.exeom
equal "$(json split.dbg "len(d['tuning'][0]['nodes']) > 5")" True "debugging data"
[ "$(stat -c %s split.exeom)" -lt "$(stat -c %s m.om)" ] || fail "the .exeom is not smaller"
run 0 aoe_run --model=m.om --repeat=1 --output-dir=whole
run 0 aoe_run --model=split.exeom --repeat=1 --output-dir=split
cmp -s whole/*.npy split/*.npy || fail "the .exeom gives another result"
run 0 atc --mode=6 --om=split.exeom
refuses 2 --om atc --mode=30 --output=x
refuses 6 nowhere atc --mode=30 --om=m.om --output=nowhere/x

# Operators one by one.
cat >ops.json <<'JSON'
[{"op": "Add", "input_desc": [{"format": "ND", "shape": [3, 3], "type": "int32"}, {"format": "ND", "shape": [3, 3], "type": "int32"}],
  "output_desc": [{"format": "ND", "shape": [3, 3], "type": "int32"}]},
 {"op": "Conv2D", "name": "conv2d",
  "input_desc": [{"format": "NCHW", "shape": [1, 3, 16, 18], "type": "float32"}, {"format": "NCHW", "shape": [4, 3, 3, 3], "type": "float32"}],
  "output_desc": [{"format": "NCHW", "shape": [1, 4, 9, 18], "type": "float32"}],
  "attr": [{"name": "strides", "type": "list_int", "value": [1, 1, 2, 1]}, {"name": "pads", "type": "list_int", "value": [1, 2, 1, 1]},
           {"name": "dilations", "type": "list_int", "value": [1, 1, 1, 1]}, {"name": "groups", "type": "int", "value": 1},
           {"name": "data_format", "type": "string", "value": "NCHW"}, {"name": "offset_x", "type": "int", "value": 0}]},
 {"op": "Reshape", "name": "reshape",
  "input_desc": [{"format": "ND", "shape": [2, 6], "type": "float32"}, {"format": "ND", "shape": [2], "type": "int64", "is_const": true, "const_value": [3, 4]}],
  "output_desc": [{"format": "ND", "shape": [3, 4], "type": "float"}]},
 {"op": "Cast", "name": "cast", "input_desc": [{"format": "ND", "shape": [4], "type": "float32"}],
  "output_desc": [{"format": "ND", "shape": [4], "type": "int32"}],
  "attr": [{"name": "to", "type": "int", "value": 6}, {"name": "saturate", "type": "int", "value": 1}]}]
JSON
mkdir oms
run 0 atc --singleop=ops.json --output=oms
equal "$(ls oms | tr '\n' ' ')" "0_Add_3_2_3_3_3_2_3_3_3_2_3_3.om cast.om conv2d.om reshape.om " "files of single operators"
run 0 aoe_run --model=oms/0_Add_3_2_3_3_3_2_3_3_3_2_3_3.om --repeat=1 --output-dir=sum
run 0 aoe_run --model=oms/conv2d.om --repeat=1 --output-dir=conv
has "$(ls conv/*.npy)" "'shape': .1, 4, 9, 18"
bad_op() { # TEXT JSON
  echo "$2" >bad_ops.json
  refuses 2 "$1" atc --singleop=bad_ops.json --output=oms
}
x='{"format": "ND", "shape": [3], "type": "float32"}'
bad_op "is no JSON list of operators" '{}'
bad_op "op 0: there is no operator 'Nothing'" '[{"op": "Nothing"}]'
bad_op 'op 0: unknown key "inputs"' '[{"op": "Add", "inputs": []}]'
bad_op "'float31' is no type" "[{\"op\": \"Relu\", \"input_desc\": [{\"format\": \"ND\", \"shape\": [3], \"type\": \"float31\"}], \"output_desc\": [$x]}]"
bad_op "sizes must be known" "[{\"op\": \"Relu\", \"input_desc\": [{\"format\": \"ND\", \"shape\": [-1], \"type\": \"float32\"}], \"output_desc\": [$x]}]"
for attribute in speed transA; do  # the second one is another operator's
  bad_op "operator 'Relu' has no attribute '$attribute'" \
    "[{\"op\": \"Relu\", \"input_desc\": [$x], \"output_desc\": [$x], \"attr\": [{\"name\": \"$attribute\", \"type\": \"int\", \"value\": 1}]}]"
done
bad_op "output 0 is float32 3 ND, described as float32 4 ND" \
  "[{\"op\": \"Relu\", \"input_desc\": [$x], \"output_desc\": [{\"format\": \"ND\", \"shape\": [4], \"type\": \"float32\"}]}]"
bad_op "two operators are named 'a'" "[{\"op\": \"Relu\", \"name\": \"a\", \"input_desc\": [$x], \"output_desc\": [$x]},
  {\"op\": \"Neg\", \"name\": \"a\", \"input_desc\": [$x], \"output_desc\": [$x]}]"
refuses 2 "exclude each other" atc --singleop=ops.json --model=m.onnx --output=oms
refuses 2 "--output_type: is of models" atc --singleop=ops.json --output=oms --output_type=FP16
refuses 6 nowhere atc --singleop=ops.json --output=nowhere
finish
