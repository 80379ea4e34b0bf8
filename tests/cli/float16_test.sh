# --precision_mode with float16: atc and aoe, on any machine; what is stored or multiplied is float16, sums are float32.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --image=48 --output=m.onnx >/dev/null || fail "make_model"
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w

off() { python3 "$here/output_difference.py" exact "$1"; }
is_between() { python3 -c "import sys; a, x, b = map(float, sys.argv[1:]); sys.exit(not a < x < b)" "$1" "$2" "$3"; }
compiled() { # MODE: compiles and runs the model in it
  run 0 atc --framework=5 --model=m.onnx --output="$1" --precision_mode="$1" --log=info
  cp err "$1.log"
  run 0 aoe_run --model="$1.om" --repeat=1 --output-dir="$1"
}

compiled force_fp32
mv force_fp32 exact
for mode in force_fp16 cube_fp16in_fp32out allow_mix_precision_fp16; do
  compiled $mode
  is_between 0 "$(off $mode)" 1e-2 || fail "$mode is off by $(off $mode) of the range"
done
has allow_mix_precision_fp16.log 'float16 factors in [1-9][0-9]* of [0-9]+ products, error [0-9.e+-]+ of the range'

# force_fp16: every output is a number that float16 has.
python3 - force_fp16/*.npy <<'END' || fail "force_fp16 gives numbers that float16 does not have"
import struct, sys
data = open(sys.argv[1], 'rb').read()
values = [v[0] for v in struct.iter_unpack('<f', data[10 + struct.unpack('<H', data[8:10])[0]:])]
assert values and all(struct.unpack('<e', struct.pack('<e', v))[0] == v for v in values)
END

# A mask that adds the lowest float does not become infinity, which would give NaN.
make_model bert-base --small --output=bert.onnx >/dev/null || fail "make_model"
for mode in force_fp32 force_fp16; do
  run 0 atc --framework=5 --model=bert.onnx --output=bert_$mode --precision_mode=$mode
  run 0 aoe_run --model=bert_$mode.om --repeat=1 --output-dir=bert_$mode
done
difference=$(python3 "$here/output_difference.py" bert_force_fp32 bert_force_fp16)
is_between 0 "$difference" 1e-2 || fail "BERT in float16 is off by $difference of the range"

# Nothing here needs less than float32, which is said once.
compiled allow_fp32_to_fp16
equal "$(off allow_fp32_to_fp16)" "0.0" "allow_fp32_to_fp16"
equal "$(grep -c 'nothing is lowered' allow_fp32_to_fp16.log)" 1 "lines about it"
refuses 2 "'fp16' is unknown" atc --framework=5 --model=m.onnx --output=x --precision_mode=fp16

run 0 aoe --framework=5 --model=m.onnx --job_type=2 --progress_bar=off --preset="$brief" --trials=12 \
  --output=tuned --precision_mode=cube_fp16in_fp32out
has out '^precision: the tuned model is off from the same in float32 by [0-9.e+-]+ of its range$'
run 0 aoe_run --model=tuned.om --repeat=1 --output-dir=tuned
is_between 0 "$(off tuned)" 1e-2 || fail "tuned, it is off by $(off tuned) of the range"
finish
