# An If that the run decides, through atc, aoe and aoe_run; and one that --input_value decides.
source "$(dirname "$0")/lib.sh"
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w

cat >m.pbtxt <<'PB'
ir_version: 8
opset_import { domain: "" version: 17 }
graph {
  name: "sample_rate"
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 64 } } } } }
  input { name: "sr" type { tensor_type { elem_type: 7 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  initializer { name: "fast" data_type: 7 int64_data: 16000 }
  node { op_type: "Equal" name: "is_fast" input: "sr" input: "fast" output: "flag" }
  node {
    op_type: "If" name: "choose" input: "flag" output: "y"
    attribute { name: "then_branch" type: GRAPH g { name: "then" output { name: "a" }
      node { op_type: "Relu" name: "relu" input: "x" output: "a" } } }
    attribute { name: "else_branch" type: GRAPH g { name: "else" output { name: "b" }
      node { op_type: "Neg" name: "neg" input: "x" output: "b" } } }
  }
}
PB

python3 - <<'PY'
import struct
def save(path, descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    open(path, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + data)
save('x.npy', '<f4', '(2, 64)', struct.pack('<128f', *[(i % 7) - 3 for i in range(128)]))
save('fast.npy', '<i8', '()', struct.pack('<q', 16000))
save('slow.npy', '<i8', '()', struct.pack('<q', 8000))
PY
second() { # FILE.npy: its second element
  python3 -c "import struct,sys; d=open(sys.argv[1],'rb').read(); at=10+struct.unpack('<H',d[8:10])[0]; print(struct.unpack_from('<f',d,at+4)[0])" "$1"
}

run 0 atc --framework=5 --model=m.pbtxt --output=m
for rate in fast slow; do
  run 0 aoe_run --model=m.om --input=x=x.npy --input=sr=$rate.npy --repeat=1 --output-dir=$rate
done
equal "$(second fast/y.npy)" "0.0" "Relu of -2"
equal "$(second slow/y.npy)" "2.0" "Neg of -2"
run 0 aoe_run --model=m.om --input=x=x.npy --input=sr=slow.npy --repeat=3 --profile
has out 'choose.*control'

# Tuning leaves it right.
run 0 aoe --framework=5 --model=m.pbtxt --job_type=2 --progress_bar=off --preset="$brief" --trials=4 --output=tuned
run 0 aoe_run --model=tuned.om --input=x=x.npy --input=sr=slow.npy --repeat=1 --output-dir=tuned
equal "$(second tuned/y.npy)" "2.0" "Neg of -2, tuned"

# A block in the body of a loop is a subgraph of its own, and what it becomes computes the same.
cat >loop.pbtxt <<'PB'
ir_version: 8
opset_import { domain: "" version: 17 }
graph {
  name: "repeated"
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 1 } dim { dim_value: 32 } dim { dim_value: 40 } dim { dim_value: 40 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  initializer { name: "trips" data_type: 7 int64_data: 3 }
  initializer { name: "window" data_type: 7 dims: 4 int64_data: 32 int64_data: 1 int64_data: 3 int64_data: 3 }
  initializer { name: "point" data_type: 7 dims: 4 int64_data: 32 int64_data: 32 int64_data: 1 int64_data: 1 }
  node { op_type: "ConstantOfShape" input: "window" output: "w"
    attribute { name: "value" type: TENSOR t { data_type: 1 dims: 1 float_data: 0.125 } } }
  node { op_type: "ConstantOfShape" input: "point" output: "v"
    attribute { name: "value" type: TENSOR t { data_type: 1 dims: 1 float_data: 0.03125 } } }
  node { op_type: "Loop" name: "repeat" input: "trips" input: "" input: "x" output: "y"
    attribute { name: "body" type: GRAPH g { name: "body"
      input { name: "i" type { tensor_type { elem_type: 7 shape { } } } }
      input { name: "go" type { tensor_type { elem_type: 9 shape { } } } }
      input { name: "s" type { tensor_type { elem_type: 1 shape {
        dim { dim_value: 1 } dim { dim_value: 32 } dim { dim_value: 40 } dim { dim_value: 40 } } } } }
      output { name: "on" type { tensor_type { elem_type: 9 shape { } } } }
      output { name: "u" type { tensor_type { elem_type: 1 } } }
      node { op_type: "Identity" name: "same" input: "go" output: "on" }
      node { op_type: "Conv" name: "each" input: "s" input: "w" output: "a"
        attribute { name: "group" type: INT i: 32 } attribute { name: "pads" type: INTS ints: 1 ints: 1 ints: 1 ints: 1 } }
      node { op_type: "Conv" name: "all" input: "a" input: "v" output: "u" } } }
  }
}
PB
run 0 atc --framework=5 --model=loop.pbtxt --output=untuned_loop
run 0 aoe --framework=5 --model=loop.pbtxt --job_type=1 --progress_bar=off --preset="$brief" --trials=4 --output=tuned_loop --log=debug
has err 'subgraph=repeat/each plan='
equal "$(json "$(ls -t w/aoe_result_opat_*_pid*.json | head -1)" \
  "next(e['SGAT'] for e in d if 'SGAT' in e)['repo_summary']['total_num']")" "1" "subgraphs"
python3 - <<'PY'
import struct
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 32, 40, 40), }"
header += ' ' * (-(len(header) + 11) % 64) + '\n'
data = struct.pack('<51200f', *[(i % 11) / 11 for i in range(51200)])
open('image.npy', 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + data)
PY
for om in untuned_loop tuned_loop; do
  run 0 aoe_run --model=$om.om --input=x=image.npy --repeat=1 --output-dir=$om
done
python3 - <<'PY' || fail "the loop computes something else when it is tuned"
import struct, sys
def load(path):
    data = open(path, 'rb').read()
    return [v[0] for v in struct.iter_unpack('<f', data[10 + struct.unpack('<H', data[8:10])[0]:])]
a, b = load('untuned_loop/y.npy'), load('tuned_loop/y.npy')
sys.exit(0 if len(a) == len(b) and max(a) > 0.1 and all(abs(x - y) < 1e-4 for x, y in zip(a, b)) else 1)
PY

# What is tuned with a count of trips that is fixed is found by a model that has the count as an input.
sed -e '/initializer { name: "trips"/d' \
  -e 's/^  name: "repeated"/&\n  input { name: "trips" type { tensor_type { elem_type: 7 shape { } } } }/' loop.pbtxt >counted.pbtxt
run 0 aoe --framework=5 --model=counted.pbtxt --job_type=2 --progress_bar=off --preset="$brief" --trials=4 --input_value=trips:20
run 0 atc --framework=5 --model=counted.pbtxt --output=counted --log=info
has err ': [1-9][0-9]* of [0-9]+ ops hit the bank'

# What is fixed folds away, and is no input any longer.
run 0 atc --framework=5 --model=m.pbtxt --output=fixed --input_value=sr:8000
run 0 aoe_run --model=fixed.om --input=x=x.npy --repeat=1 --output-dir=fixed --profile
equal "$(second fixed/y.npy)" "2.0" "Neg of -2, fixed"
grep -q control out && fail "the If is still there"
refuses 2 "the model has no input 'rate'" atc --framework=5 --model=m.pbtxt --output=bad --input_value=rate:1
refuses 2 "'16k' is no number of type int64" atc --framework=5 --model=m.pbtxt --output=bad --input_value=sr:16k
refuses 2 "is no name with its value" atc --framework=5 --model=m.pbtxt --output=bad --input_value=sr
refuses 2 "2 numbers are given" atc --framework=5 --model=m.pbtxt --output=bad --input_value=sr:1,2

# A loop without an end: compiled though all it reads is constant, ended by a signal at once; what it collects ends before memory.
endless() { # endless NAME OUTPUTS ELEMENTS: as its body's last output, when there are two, it collects what it carries
  cat >"$1.pbtxt" <<PB
ir_version: 8
opset_import { domain: "" version: 17 }
graph {
  name: "$1"
  initializer { name: "true" data_type: 9 int32_data: 1 }
  initializer { name: "size" dims: 1 data_type: 7 int64_data: $3 }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  $([ "$2" = 2 ] && echo 'output { name: "all" type { tensor_type { elem_type: 1 } } }')
  node { op_type: "ConstantOfShape" name: "zeros" input: "size" output: "x" }
  node { op_type: "Loop" name: "forever" input: "" input: "true" input: "x" output: "y" $([ "$2" = 2 ] && echo 'output: "all"')
    attribute { name: "body" type: GRAPH g { name: "body"
      input { name: "i" type { tensor_type { elem_type: 7 shape { } } } }
      input { name: "go" type { tensor_type { elem_type: 9 shape { } } } }
      input { name: "v" type { tensor_type { elem_type: 1 shape { dim { dim_value: $3 } } } } }
      output { name: "on" type { tensor_type { elem_type: 9 shape { } } } }
      output { name: "w" type { tensor_type { elem_type: 1 shape { dim { dim_value: $3 } } } } }
      $([ "$2" = 2 ] && echo 'output { name: "each" type { tensor_type { elem_type: 1 } } }')
      node { op_type: "Identity" name: "same" input: "go" output: "on" }
      node { op_type: "Cos" name: "step" input: "v" output: "w" }
      $([ "$2" = 2 ] && echo 'node { op_type: "Abs" name: "kept" input: "v" output: "each" }') } } }
}
PB
}
endless plain 1 8
endless collects 2 1000000
for model in plain collects; do run 0 timeout 60 atc --framework=5 --model=$model.pbtxt --output=$model; done
for signal in INT TERM; do
  run 124 timeout --signal=$signal --kill-after=20 1 aoe_run --model=plain.om  # 137 where only the second one ends it
done
limited() { (ulimit -v 1500000; exec "$@"); }
run 1 limited timeout 60 aoe_run --model=collects.om
has err "op 'forever' \(Loop\): what it has collected in [0-9]+ trips: needs [0-9.]+ [MG]iB of memory, [0-9.]+ [MG]iB are available"
finish
