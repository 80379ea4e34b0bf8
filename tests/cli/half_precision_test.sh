# Models of float16 and bfloat16: they run in float32, near their float32 twins; and what runs on the reference path is said.
source "$(dirname "$0")/lib.sh"
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w

off() { python3 "$here/output_difference.py" "$1" "$2"; }
is_below() { python3 -c "import sys; sys.exit(not 0 <= float(sys.argv[1]) <= float(sys.argv[2]))" "$1" "$2"; }
compiled() { # NAME MODEL FLAGS...: compiles, and runs it
  local name=$1 model=$2; shift 2
  run 0 atc --framework=5 --model="$model.onnx" --output="$name" "$@"
  cp err "$name.log"
  run 0 aoe_run --model="$name.om" --repeat=1 --output-dir="$name"
}

make_model squeezenet --small --image=48 --output=wide.onnx >/dev/null || fail "make_model"
make_model squeezenet --small --image=48 --float_type=float16 --output=half.onnx >/dev/null || fail "make_model"
make_model squeezenet --small --image=48 --float_type=bfloat16 --output=brain.onnx >/dev/null || fail "make_model"
refuses 2 "is neither float32, float16 nor bfloat16" make_model squeezenet --float_type=float8 --output=x.onnx
refuses 2 "NonMaxSuppression takes boxes of float32 alone" make_model mask-rcnn --small --float_type=float16 --output=x.onnx
refuses 2 "leave --quantize or --float_type out" make_model squeezenet --float_type=float16 --quantize=qdq --output=x.onnx
compiled wide wide
compiled half half --log=info
has half.log 'values of float16 or bfloat16 are computed in float32'
has half/output.npy "'<f2'"
is_below "$(off wide half)" 5e-3 || fail "float16 is off by $(off wide half) of the range"
run 0 atc --framework=5 --model=brain.onnx --output=brain
[ -s err ] && fail "of a model that is not slow: $(head -1 err)"
run 0 aoe_run --model=brain.om --repeat=1
for model in half brain; do
  run 0 atc --mode=6 --om=$model.om
  grep -q 'path\[reference\]' out && fail "$model: $(grep -m1 'path\[reference\]' out)"
  has out '^op       info: name\[.*\], type\[Conv2D\+Relu\], path\[generated\], work\[[0-9.]+%\], repo_key\[[0-9]+\], strategy\[default\]\.$'
done

# The precision modes say the same of it as of its twin.
for mode in force_fp16 cube_fp16in_fp32out allow_mix_precision_fp16 allow_mix_precision must_keep_origin_dtype; do
  compiled $mode half --precision_mode=$mode
  is_below "$(off wide $mode)" 2e-2 || fail "$mode is off by $(off wide $mode) of the range"
done
echo 'Conv2D=high_precision' >mode.ini
compiled sums half --op_precision_mode=mode.ini
printf 'OpType::Conv2D\n' >keep.txt
compiled kept half --precision_mode=allow_mix_precision --keep_dtype=keep.txt
for name in sums kept; do is_below "$(off wide $name)" 5e-3 || fail "$name is off by $(off wide $name)"; done

# Tasks are those of the twin: what one has learned, the other finds.
tune() { run 0 aoe --framework=5 --model="$1.onnx" --job_type=2 --progress_bar=off --preset="$brief" --trials=8 --output="$1_tuned"; }
tune half
grep -q 'reference path' err && fail "aoe: $(grep 'reference path' err)"
known() { atc --mode=6 --om="$1.om" | sed -nE 's/.*bank_hits\[([0-9]+)\].*/\1/p'; }
run 0 atc --framework=5 --model=half.onnx --output=half_again
run 0 atc --framework=5 --model=wide.onnx --output=wide_again
[ "$(known half_again)" -gt 3 ] || fail "the bank knows $(known half_again) operators"
[ "$(known wide_again)" -gt 3 ] || fail "the bank knows $(known wide_again) operators of the twin"

# LRN of float64, and Trilu of rows whose number only a run tells, have no fast kernels, which is said once.
python3 - "$here/.." <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from onnx_writer import BOOL, node, value, write
def doubles(name, *shape):
    return value(name, *shape, element_type=11)
write("slow.onnx", [node("Exp", ["x"], ["e"], "exp"), node("LRN", ["e"], ["d"], "lrn", size=3), node("LRN", ["m"], ["y"], "lrn2", size=3)],
      [doubles("x", 64, 8, 8), doubles("m", 4, 3, 3)], [doubles("d", 64, 8, 8), doubles("y", 4, 3, 3)])
write("little.onnx", [node("Exp", ["x"], ["e"], "exp"), node("LRN", ["m"], ["y"], "lrn", size=3)],
      [doubles("x", 64, 64, 64), doubles("m", 3, 3)], [doubles("e", 64, 64, 64), doubles("y", 3, 3)])
write("open.onnx", [node("Compress", ["x", "c"], ["r"], "compress", axis=0), node("Trilu", ["r"], ["y"], "trilu")],
      [value("x", 9, 2), value("c", 9, element_type=BOOL)], [value("y", -1, 2)], opset=14)
PY
slow='operators, [0-9.]+% of the model.s work, run on the reference path, which is slow: LRN x2 \([0-9.]+%\)$'
run 0 atc --model=slow.onnx --output=slow
has err "\[warning\] \[atc\] slow.om: 2 of [0-9]+ $slow"
equal "$(grep -c 'reference path' err)" 1 "lines on it"
run 0 atc --mode=6 --om=slow.om
has out '^op       info: name\[lrn\], type\[LRN\], path\[reference\], work\[[0-9.]+%\], repo_key\[[0-9]+\], strategy\[default\]\.$'
has out '^path     info: generated\[[0-9.]+%\], reference\[[0-9.]+%\]'
run 0 aoe --framework=5 --model=slow.onnx --job_type=2 --progress_bar=off --preset="$brief" --trials=2 --output=slow_tuned
has err "\[warning\] \[aoe\] slow: 2 of [0-9]+ $slow"
equal "$(grep -c 'reference path' err)" 1 "lines of aoe on it"
run 0 atc --model=little.onnx --output=little
[ -s err ] && fail "of a thousandth: $(head -1 err)"
run 0 atc --mode=6 --om=little.om
has out 'path\[reference\]'
run 0 atc --model=open.onnx --output=open
has err 'Trilu \(of sizes known only when it runs\)'
run 0 atc --mode=6 --om=open.om
has out 'type\[Trilu\], path\[reference\], work\[known when it runs\]'
finish
