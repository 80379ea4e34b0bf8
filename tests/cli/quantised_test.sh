# Models quantised in ONNX, in both forms: tuned and compiled to int8 kernels, they agree with the reference.
source "$(dirname "$0")/lib.sh"

export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w
off() { python3 "$here/output_difference.py" "$1" "$2"; }
is_below() { python3 -c "import sys; sys.exit(not 0 <= float(sys.argv[1]) <= float(sys.argv[2]))" "$1" "$2"; }

# Without passes every product runs as the model has it: in float32 between its Dequantize and Quantize, or as a QLinear operator.
echo '{"Switch": {"GraphFusion": {"ALL": "off"}}}' >off.json
for form in qdq qlinear; do
  make_model mobilenetv2 --small --image=64 --seed=5 --quantize=$form --output=$form.onnx >/dev/null || fail "make_model"
  CANN_KNOWLEDGE_BANK_PROCESS_NUM=0 run 0 atc --framework=5 --model=$form.onnx --output=plain_$form --fusion_switch_file=off.json
  run 0 aoe_run --model=plain_$form.om --repeat=1 --output-dir=plain_$form --profile
  grep -q '_int8 ' out && fail "an int8 kernel without passes"

  run 0 aoe --framework=5 --model=$form.onnx --job_type=2 --progress_bar=off --preset="$brief" --trials=4 --output=tuned_$form
  has out '^precision: the tuned model is off from the same in float32 by [0-9.e+-]+ of its range$'
  stated=$(json "$(ls -t w/aoe_result_opat_*_pid*.json | head -1)" "d[0]['basic']['error_against_fp32']")
  is_below "$stated" 2e-2 || fail "$form: aoe states an error of $stated"
  run 0 atc --framework=5 --model=$form.onnx --output=compiled_$form
  for om in tuned_$form compiled_$form; do
    run 0 aoe_run --model=$om.om --repeat=1 --output-dir=$om --profile
    has out 'QuantConv2D.* AI_CORE +conv_int8 '
    has out 'QuantConv2D.* AI_CORE +depthwise_int8 '
    has out 'QuantMatMul.* AI_CORE +gemm_int8 '
    grep -q ' AI_CPU ' out && fail "$om runs operators on the reference: $(grep ' AI_CPU ' out | head -2)"
    # Ties may round to neighbouring steps, and the layers behind spread them.
    is_below "$(off plain_$form $om)" 2e-2 || fail "$om is off by $(off plain_$form $om) of the range"
  done
done
# Both forms stand for the same network.
is_below "$(off plain_qdq plain_qlinear)" 2e-2 || fail "qdq and qlinear differ by $(off plain_qdq plain_qlinear) of the range"

# Of open sizes, calibrated on those of its twin above: it runs at others as the same compiled for them does.
make_model mobilenetv2 --small --image=64 --seed=5 --quantize=qdq --dynamic --output=open.onnx >/dev/null || fail "make_model --dynamic"
run 0 atc --framework=5 --model=open.onnx --input_shape="input:-1,3,-1,-1" --output=open
run 0 atc --framework=5 --model=open.onnx --input_shape="input:2,3,80,64" --output=known
/usr/bin/python3 -c "
import numpy
numpy.save('x.npy', numpy.random.RandomState(1).rand(2, 3, 80, 64).astype(numpy.float32))" || fail "numpy"
for om in open known; do run 0 aoe_run --model=$om.om --input=input=x.npy --repeat=1 --output-dir=$om; done
is_below "$(off known open)" 2e-2 || fail "open sizes are off by $(off known open) of the range"
finish
