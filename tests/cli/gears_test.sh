# Dynamic gears: one om serves several sizes, each as an om of that size alone does; tuned and untuned.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --image=64 --dynamic --output=cnn.onnx >/dev/null || fail "make_model"
make_model bert-base --small --dynamic --output=bert.onnx >/dev/null || fail "make_model"
field() { sed -nE "s/.*[ ,]$1\[([0-9]+).*/\1/p" out; }
weights_of() { atc --mode=6 --om="$1" >out; field weight_size; }
# Writes FILE.npy with float32 of this shape, always the same.
npy() { python3 - "$@" <<'PY'
import random, struct, sys
shape = [int(d) for d in sys.argv[2].split('x')]
count = 1
for d in shape: count *= d
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % ','.join(map(str, shape))
header = header.ljust(117) + '\n'
random.seed(1)
with open(sys.argv[1], 'wb') as f:
    f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode())
    f.write(struct.pack('<%df' % count, *[random.random() for _ in range(count)]))
PY
}
same_results() { # DIR DIR [TOLERANCE of the range]
  python3 - "$@" <<'PY' || fail "$1 and $2 differ"
import os, struct, sys
def load(path):
    data = open(path, 'rb').read()
    start = 10 + struct.unpack('<H', data[8:10])[0]
    return data[10:start], [v[0] for v in struct.iter_unpack('<f', data[start:])]
limit = float(sys.argv[3]) if len(sys.argv) > 3 else 0
files = sorted(os.listdir(sys.argv[1]))
ok = files and files == sorted(os.listdir(sys.argv[2]))
for name in files if ok else []:
    (ha, a), (hb, b) = load(sys.argv[1] + '/' + name), load(sys.argv[2] + '/' + name)
    spread = max(b) - min(b)
    ok = ok and ha == hb and all(abs(x - y) <= limit * spread for x, y in zip(a, b))
sys.exit(0 if ok else 1)
PY
}

# Batch gears; the gear follows from the input's shape.
run 0 atc --model=cnn.onnx --output=cnn.om --input_shape="input:-1,3,64,64" --dynamic_batch_size="1,4,2"
exists cnn_linux_x86_64.om
run 0 atc --mode=6 --om=cnn_linux_x86_64.om
has out '^gears +info: batch sizes 1, 4, 2\.$'
sum=0
for n in 1 4 2; do
  npy "in$n.npy" "${n}x3x64x64"
  run 0 atc --model=cnn.onnx --output="cnn$n" --input_shape="input:$n,3,64,64"
  run 0 aoe_run --model="cnn$n.om" --input=input="in$n.npy" --repeat=1 --output-dir="alone$n"
  run 0 aoe_run --model=cnn_linux_x86_64.om --input=input="in$n.npy" --repeat=1 --output-dir="gear$n"
  same_results "gear$n" "alone$n"
  sum=$((sum + $(weights_of "cnn$n.om")))
done
[ "$(weights_of cnn_linux_x86_64.om)" -lt $((sum * 2 / 3)) ] || fail "gears share no weights"
run 0 aoe_run --model=cnn_linux_x86_64.om --repeat=1 --profile
has out '^all ops +[0-9.]*[1-9]'
run 0 aoe_run --model=cnn_linux_x86_64.om --gear=2 --repeat=1 --profile
has out '^/features/features\.0/Conv .* [1-9][0-9]*\.[0-9]+ +[0-9.]+ +(N/A|[0-9.]+)$'
npy in3.npy 3x3x64x64
refuses 7 "by gear it is 1: 1x3x64x64; 4: 4x3x64x64; 2: 2x3x64x64" \
  aoe_run --model=cnn_linux_x86_64.om --input=input=in3.npy
refuses 7 "by gear it is 4: 4x3x64x64" \
  aoe_run --model=cnn_linux_x86_64.om --gear=4 --input=input=in2.npy
refuses 2 "its gears are 1; 4; 2" aoe_run --model=cnn_linux_x86_64.om --gear=3
refuses 2 --gear aoe_run --model=cnn1.om --gear=1

# Image gears.
run 0 atc --model=cnn.onnx --output=image --input_shape="input:1,3,-1,-1" --dynamic_image_size="64,64;96,64"
npy tall.npy 1x3x96x64
run 0 atc --model=cnn.onnx --output=tall --input_shape="input:1,3,96,64"
run 0 aoe_run --model=tall.om --input=input=tall.npy --repeat=1 --output-dir=tall_alone
run 0 aoe_run --model=image_linux_x86_64.om --input=input=tall.npy --repeat=1 --output-dir=tall_gear
same_results tall_gear tall_alone

# Gears of any dimensions, of a transformer whose other inputs follow by the names of the dimensions.
run 0 atc --model=bert.onnx --output=bert --input_shape="input_ids:-1,-1" --dynamic_dims="1,16;2,24"
for dims in 1,16 2,24; do
  run 0 atc --model=bert.onnx --output="bert$dims" --input_shape="input_ids:$dims"
  run 0 aoe_run --model="bert$dims.om" --repeat=1 --output-dir="bert_alone$dims"
  run 0 aoe_run --model=bert_linux_x86_64.om --gear="$dims,$dims,$dims" --repeat=1 --output-dir="bert_gear$dims"
  same_results "bert_gear$dims" "bert_alone$dims"
done

# All gears are tuned in one session.
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w
echo '{"tune_ops_name": ["/features/features.0/Conv", "/classifier/classifier.1/Conv"]}' >ops.json
run 0 aoe --job_type=2 --model=cnn.onnx --input_shape="input:-1,3,64,64" --dynamic_batch_size="1,4" \
  --progress_bar=off --trials=16 --search_limit=3600 --tune_ops_file=ops.json --output=tuned
has out '^4 tasks, '
has out '^gears: batch sizes 1, 4; the model.s time is that of one inference of each$'
exists tuned_linux_x86_64.om
[ -n "$(find w/aoe_workspace -name 'cnn_*_tune_linux_x86_64.om')" ] || fail "no om in the workspace"
result=$(ls w/aoe_result_opat_*_pid*.json) || fail "no result"
equal "$(json "$result" "d[0]['basic']['gears']")" "['1', '4']" "gears of the result"
equal "$(json "$result" "d[1]['OPAT']['opat_tuning_result']")" "tuning successful" "state"
for n in 1 4; do
  run 0 aoe_run --model=tuned_linux_x86_64.om --input=input="in$n.npy" --repeat=1 --output-dir="tuned$n"
  same_results "tuned$n" "alone$n" 1e-4
done
# What one gear won serves the model of that shape alone, and the other way round.
run 0 atc --model=cnn.onnx --output=banked --input_shape="input:4,3,64,64" --log=info
has err ': [1-9][0-9]* of [0-9]+ ops hit the bank'

refuses 2 "exclude each other" atc --model=cnn.onnx --output=m --input_shape="input:-1,3,64,64" \
  --dynamic_batch_size="1,4" --dynamic_dims="1;4"
refuses 2 "2 to 100" atc --model=cnn.onnx --output=m --input_shape="input:-1,3,64,64" --dynamic_batch_size=4
refuses 2 "no dimension is -1" atc --model=cnn.onnx --output=m --input_shape="input:1,3,64,64" --dynamic_batch_size="1,4"
refuses 2 "first dimension only" atc --model=cnn.onnx --output=m --input_shape="input:1,3,-1,64" --dynamic_batch_size="1,4"
refuses 2 "height and width" aoe --job_type=2 --model=cnn.onnx --input_shape="input:-1,3,64,64" --dynamic_image_size="64,64;96,64"
refuses 2 "one for each -1" atc --model=cnn.onnx --output=m --input_shape="input:-1,3,-1,-1" --dynamic_dims="1,64;4,64"
refuses 2 "--input_format=NCHW" atc --model=cnn.onnx --output=m --input_format=ND --input_shape="input:1,3,-1,-1" \
  --dynamic_image_size="64,64;96,64"
refuses 2 "--dynamic_batch_size" aoe --job_type=2 --model=cnn.onnx --output=m --input_shape="input:-1,3,64,64"
run 0 atc --model=cnn.onnx --output=open --input_shape="input:-1,3,64,64"
refuses 4 "has an input of open sizes, 'input' of ?x3x64x64" aoe_compare a=open.om,open.om
run 0 aoe_run --model=open.om --batch=3 --repeat=2
has out ' samples_per_s='
refuses 2 "no input of the model has 3 as its first" aoe_run --model=open.om --batch=3 --input=input=in4.npy
# What is computed in parts is listed with the sizes of these, which can be tuned.
run 0 aoe_bank explain open.om
has out '^[^ ]+/[^ ]+ +Conv2D[^ ]* +[0-9]+x3x64x64 '
run 0 atc --mode=6 --om=open.om
has out '^bank     info: ops\[([2-9]|[0-9]{2})'
has out '^op       info: name\[[^]]+/[^]]+\], type\[Conv2D.*repo_key'
refuses 3 "--dynamic_image_size, gear 2,2" atc --model=cnn.onnx --output=m --input_shape="input:1,3,-1,-1" \
  --dynamic_image_size="64,64;2,2"
finish
