# AIPP: images of bytes, prepared in the om, give what NumPy computes by the documented formulas.
source "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "no numpy for /usr/bin/python3"; exit 77; }

cases=$(/usr/bin/python3 "$here/aipp_cases.py") || fail "aipp_cases.py"
for case in $cases; do
  run 0 atc --model="$case.onnx" --output="$case" --insert_op_conf="$case.cfg"
  [ -s err ] && fail "$case: $(head -1 err)"
  run 0 aoe_run --model="$case.om" --input=image="${case}_x.npy" --repeat=1 --output-dir="r_$case"
  /usr/bin/python3 - "$case" <<'PY' || fail "$case differs from NumPy"
import sys, numpy
name = sys.argv[1]
wanted, made = numpy.load(name + "_y.npy"), numpy.load("r_%s/y.npy" % name)
if wanted.shape != made.shape or wanted.dtype != made.dtype:
    sys.exit("%s: %s %s" % (name, made.dtype, made.shape))
error = numpy.abs(wanted - made)
off = error > 1e-5 * max(1, numpy.abs(wanted).max())
print(name, error.max(), off.mean())
# Halves between two pixel values fall either way where shares of pixels are no binary fractions.
nearly = name == "resized_padded" and off.mean() < 0.02 and error.max() < 0.00392 * 1.01
sys.exit(0 if nearly or not off.any() else 1)
PY
done

# Every operator of the configuration is in the om, behind an input of bytes of the documented size.
run 0 atc --mode=6 --om=nv12.om
run 7 aoe_run --model=nv12.om --input=image=plain_x.npy --repeat=1
has err 'uint8 2x24x24x1'

# A real model: prepared in the om or before it, the result is the same; the first convolution still gets its Format.
make_model squeezenet --small --image=64 --output=m.onnx >/dev/null || fail "make_model"
cat >m.cfg <<'CFG'
aipp_op { aipp_mode: static related_input_rank: 0 input_format: RGB888_U8
  src_image_size_w: 80 src_image_size_h: 72 crop: true load_start_pos_w: 8 load_start_pos_h: 4
  mean_chn_0: 124 mean_chn_1: 116 mean_chn_2: 104
  var_reci_chn_0: 0.0171 var_reci_chn_1: 0.0175 var_reci_chn_2: 0.0174 }
CFG
/usr/bin/python3 - <<'PY'
import numpy
image = numpy.random.default_rng(3).integers(0, 256, (1, 72, 80, 3), dtype=numpy.uint8)
numpy.save("image.npy", image)
x = image[:, 4:68, 8:72].astype(numpy.float32).transpose(0, 3, 1, 2)
x = (x - numpy.float32([124, 116, 104]).reshape(3, 1, 1)) * numpy.float32([0.0171, 0.0175, 0.0174]).reshape(3, 1, 1)
numpy.save("x.npy", numpy.ascontiguousarray(x, dtype=numpy.float32))
PY
run 0 atc --model=m.onnx --output=m
run 0 atc --model=m.onnx --output=aipp --insert_op_conf=m.cfg
run 0 aoe_run --model=m.om --input=input=x.npy --repeat=1 --output-dir=before
run 0 aoe_run --model=aipp.om --input=input=image.npy --repeat=1 --output-dir=within
/usr/bin/python3 - <<'PY' || fail "the model's result differs"
import glob, numpy, sys
a, b = (numpy.load(glob.glob(d + "/*.npy")[0]) for d in ("before", "within"))
sys.exit(0 if numpy.abs(a - b).max() <= 1e-4 * (a.max() - a.min()) else 1)
PY

# Together with --output_type.
run 0 atc --model=m.onnx --output=half --insert_op_conf=m.cfg --output_type=FP16
run 0 aoe_run --model=half.om --input=input=image.npy --repeat=1 --output-dir=half
has "$(ls half/*.npy)" "'<f2'"

rm -f ./*.om
bad() { # TEXT LINES...: refused, with a message that says TEXT
  local text=$1; shift
  printf '%s\n' "$@" >bad.cfg
  refuses 2 "$text" atc --model=plain.onnx --output=bad --insert_op_conf=bad.cfg
}
static="aipp_mode: static"
bad "line 2: unknown key 'men_chn_0'; did you mean " "aipp_op { $static input_format: RGB888_U8" "men_chn_0: 3 }"
bad "line 1: aipp_mode is missing" "aipp_op { input_format: RGB888_U8 }"
bad "input_format is missing" "aipp_op { $static }"
bad "'RGB' is no input_format; write YUV420SP_U8" "aipp_op { $static input_format: RGB }"
bad "dynamic AIPP is not supported" "aipp_op { aipp_mode: dynamic }"
bad "'maybe' is no crop; write true or false" "aipp_op { $static input_format: RGB888_U8 crop: maybe }"
bad "'nan' is no mean_chn_0" "aipp_op { $static input_format: RGB888_U8 mean_chn_0: nan }"
bad "'crop' is given twice" "aipp_op { $static crop: true crop: true }"
bad "ends where" "aipp_op { $static"
bad "'aipp' is not aipp_op" "aipp { }"
bad "has no aipp_op" "# nothing"
bad "src_image_size_w and src_image_size_h are missing" "aipp_op { $static input_format: RGB888_U8 crop: true }"
bad "makes images of 12x8 pixels, the model takes 10x8" \
  "aipp_op { $static input_format: RGB888_U8 src_image_size_w: 12 src_image_size_h: 8 }"
bad "reaches beyond" "aipp_op { $static input_format: RGB888_U8 src_image_size_w: 12 src_image_size_h: 8 crop: true load_start_pos_w: 4 }"
bad "needs even sizes" "aipp_op { $static input_format: YUV420SP_U8 src_image_size_w: 20 src_image_size_h: 20 crop: true load_start_pos_w: 3 }"
bad "has 3 channels, images of this format 1" "aipp_op { $static input_format: YUV400_U8 }"
bad "the model has no input 1" "aipp_op { $static input_format: RGB888_U8 related_input_rank: 1 }"
bad "the model has no input 'x'" "aipp_op { $static input_format: RGB888_U8 related_input_name: \"x\" }"
bad "is prepared twice" "aipp_op { $static input_format: RGB888_U8 }" "aipp_op { $static input_format: RGB888_U8 }"
refuses 2 "absent.cfg" atc --model=plain.onnx --output=bad --insert_op_conf=absent.cfg
printf 'aipp_op { %s input_format: RGB888_U8 max_src_image_size: 752640 }\n' "$static" >idle.cfg
run 0 atc --model=plain.onnx --output=idle --insert_op_conf=idle.cfg
has err 'max_src_image_size has no effect: it is of dynamic AIPP'
finish
