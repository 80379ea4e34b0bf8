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
run 0 aoe --framework=5 --model=m.pbtxt --job_type=2 --progress_bar=off --preset=quick --trials=4 --output=tuned
run 0 aoe_run --model=tuned.om --input=x=x.npy --input=sr=slow.npy --repeat=1 --output-dir=tuned
equal "$(second tuned/y.npy)" "2.0" "Neg of -2, tuned"

# What is fixed folds away, and is no input any longer.
run 0 atc --framework=5 --model=m.pbtxt --output=fixed --input_value=sr:8000
run 0 aoe_run --model=fixed.om --input=x=x.npy --repeat=1 --output-dir=fixed --profile
equal "$(second fixed/y.npy)" "2.0" "Neg of -2, fixed"
grep -q control out && fail "the If is still there"
refuses 2 "the model has no input 'rate'" atc --framework=5 --model=m.pbtxt --output=bad --input_value=rate:1
refuses 2 "'16k' is no number of type int64" atc --framework=5 --model=m.pbtxt --output=bad --input_value=sr:16k
refuses 2 "is no name with its value" atc --framework=5 --model=m.pbtxt --output=bad --input_value=sr
refuses 2 "2 numbers are given" atc --framework=5 --model=m.pbtxt --output=bad --input_value=sr:1,2
finish
