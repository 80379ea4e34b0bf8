# aoe_quantize: from a float32 model and samples to an om of int8 kernels whose answers are near, with the error it states.
source "$(dirname "$0")/lib.sh"
export TUNE_BANK_PATH=$work/bank
mkdir bank samples
make_model mobilenetv2 --small --image=64 --seed=5 --output=m.onnx >/dev/null || fail "make_model"
python3 - <<'P'
import random, struct
random.seed(3)
for i in range(6):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 64, 64), }"
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    values = [random.gauss(0, 1) for _ in range(3 * 64 * 64)]
    with open(f'samples/{i}.npy', 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode())
        file.write(struct.pack(f'<{len(values)}f', *values))
P

run 0 aoe_quantize --model=m.onnx --calibration=samples --output=q.onnx --json
error=$(json out "d['outputs'][0]['error']")
equal "$(json out "(d['schema'], d['version'], d['calibration_samples'], d['held_back_samples'])")" "('aoe.quantize', 1, 4, 2)" json
has err '^ranges by minmax: error '
python3 -c "import sys; sys.exit(not 0 < float(sys.argv[1]) < 0.1)" "$error" || fail "an error of $error"
run 0 aoe_quantize --model=m.onnx --calibration=samples --output=t.onnx
has out '^20 of 20 layers in int8, ranges by (minmax|percentile|entropy) of 4 samples$'
cmp -s q.onnx t.onnx || fail "two runs give different models"

for m in m q; do
  run 0 atc --framework=5 --model=$m.onnx --output=$m
  run 0 aoe_run --model=$m.om --input="input=samples/5.npy" --repeat=1 --output-dir=$m --profile
done
has out 'QuantConv2D.* AI_CORE +conv_int8 '
has out 'QuantConv2D.* AI_CORE +depthwise_int8 '
off=$(python3 "$here/output_difference.py" m q)
python3 -c "import sys; sys.exit(not float(sys.argv[1]) < 0.1)" "$off" || fail "the om is off by $off of the range"

# Every layer stays float32 when no error is allowed, and that is said.
run 0 aoe_quantize --model=m.onnx --random=2 --max_error=0 --method=minmax --output=same.onnx
has err 'warning: every layer stays float32'
has err 'warning: calibrated on random numbers'

refuses 3 "is quantised already" aoe_quantize --model=q.onnx --random=1 --output=x.onnx
refuses 7 "there are no samples" aoe_quantize --model=m.onnx --calibration=bank --output=x.onnx
refuses 2 "--calibration" aoe_quantize --model=m.onnx --output=x.onnx
refuses 2 "exclude each other" aoe_quantize --model=m.onnx --random=1 --calibration=samples --output=x.onnx
refuses 2 "is no method" aoe_quantize --model=m.onnx --random=1 --method=best --output=x.onnx
refuses 2 "is no layer" aoe_quantize --model=m.onnx --random=1 --keep_float=nix --output=x.onnx
refuses 3 "" aoe_quantize --model=absent.onnx --random=1 --output=x.onnx
run 6 aoe_quantize --model=m.onnx --random=1 --method=minmax --output=absent/x.onnx
finish
