# A language model: its cache grows inside one om, shared by past and present, and the text is that of the whole text at once.
source "$(dirname "$0")/lib.sh"

make_model decoder --small --sequence=1 --past=70 --form=genai --seed=3 --output=step.onnx >/dev/null || fail "make_model"
run 0 atc --framework=5 --model=step.onnx --output=step
om=$(ls step*.om)
run 0 decode "$om" 64 3 14 15
equal "$(wc -l <out)" 67 "tokens of a prompt of 3 and 64 more"
equal "$(head -3 out | tr '\n' ' ')" "3 14 15 " "the prompt"
cp out text

# The same words from the plain form, which is given all of the text at once and no past.
make_model decoder --small --sequence=67 --past=0 --seed=3 --output=whole.onnx >/dev/null || fail "make_model"
run 0 atc --framework=5 --model=whole.onnx --output=whole
npy() { python3 - "$@" <<'PY'
import struct, sys
path, source = sys.argv[1:]
text = [int(word) for word in open('text')]
values = {'ids': text, 'places': list(range(len(text))), 'mask': [1] * len(text)}[source]
header = "{'descr': '<i8', 'fortran_order': False, 'shape': (1, %d), }" % len(values)
header = header.ljust(117) + '\n'
with open(path, 'wb') as f:
    f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + struct.pack('<%dq' % len(values), *values))
PY
}
npy ids.npy ids; npy places.npy places; npy mask.npy mask
run 0 aoe_run --model="$(ls whole*.om)" --repeat=1 --input=input_ids=ids.npy --input=position_ids=places.npy \
  --input=attention_mask=mask.npy --output-dir=all
python3 - <<'PY' || fail "the words are not the likeliest of the plain form"
import glob, struct, sys
data = open(glob.glob('all/*logits*.npy')[0], 'rb').read()
start = 10 + struct.unpack('<H', data[8:10])[0]
logits = [v[0] for v in struct.iter_unpack('<f', data[start:])]
text = [int(word) for word in open('text')]
words = len(logits) // len(text)
wrong = [i for i in range(2, len(text) - 1)
         if logits[i * words + text[i + 1]] < max(logits[i * words:(i + 1) * words]) - 1e-3]
sys.exit('%d of %d' % (len(wrong), len(text)) if wrong or len(set(text)) < 4 else 0)
PY

# The same again, from an om whose sizes are open.
python3 - <<'PY'
import struct
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 0, 8), }".ljust(117) + '\n'
open('past.npy', 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode())
PY
make_model decoder --small --dynamic --seed=3 --output=open.onnx >/dev/null || fail "make_model"
run 0 atc --framework=5 --model=open.onnx --output=open \
  --input_shape="input_ids:1,-1;attention_mask:1,-1;past_key_values.0.key:1,2,-1,8"
inputs="--input=input_ids=ids.npy --input=position_ids=places.npy --input=attention_mask=mask.npy"
for layer in 0 1; do
  for half in key value; do inputs="$inputs --input=past_key_values.$layer.$half=past.npy"; done
done
run 0 aoe_run --model="$(ls open*.om)" --repeat=1 $inputs --reference=all
has out "logits: as the reference"
run 0 aoe_run --model="$(ls open*.om)" --repeat=1  # sizes of 1
refuses 2 "atc alone leaves sizes open" aoe --framework=5 --job_type=2 --model=open.onnx --input_shape="input_ids:1,-1"

# Sizes of the plain form as gears: a prompt, and a step behind it.
make_model decoder --small --layers=1 --dynamic --output=dynamic.onnx >/dev/null || fail "make_model"
run 0 atc --framework=5 --model=dynamic.onnx --output=dynamic --dynamic_dims="4,5,4,1,1;1,6,1,5,5" \
  --input_shape="input_ids:1,-1;attention_mask:1,-1;position_ids:1,-1;past_key_values.0.key:1,2,-1,8;past_key_values.0.value:1,2,-1,8"
run 0 aoe_run --model="$(ls dynamic*.om)" --repeat=1 --gear=1,6,1,5,5

refuses 2 "genai" make_model resnet50 --form=genai --output=x.onnx
refuses 2 "forms are: plain, genai" make_model decoder --form=onnx --output=x.onnx
refuses 2 "--image: is no size of decoder" make_model decoder --small --image=64 --output=x.onnx
refuses 2 "--heads: is no size of gpt2" make_model gpt2 --small --heads=2 --output=x.onnx
refuses 2 "--past: is no size of squeezenet" make_model squeezenet --small --past=128 --output=x.onnx
refuses 2 "--hidden, --heads" make_model decoder --hidden=30 --heads=4 --output=x.onnx
run 1 decode "$om" 100
has err "the cache has room for 70"
finish
