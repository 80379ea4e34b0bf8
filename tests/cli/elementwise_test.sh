# Elementwise operators behind convolutions, and of integers and bool: generated code runs them all, and NumPy gives the same.
source "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "no numpy for /usr/bin/python3"; exit 77; }

run 0 /usr/bin/python3 "$here/elementwise_cases.py" write
for model in behind alone; do
  run 0 atc --framework=5 --model=$model.onnx --output=$model
  inputs=--input=x=x.npy
  [ $model = alone ] && inputs="--input=a=a.npy --input=b=b.npy"
  run 0 aoe_run --model=$model.om --repeat=1 --output-dir=$model --profile $inputs
  has out 'AI_CORE'
  grep AI_CPU out && fail "some of $model.onnx runs on the reference"
done
run 0 /usr/bin/python3 "$here/elementwise_cases.py" check
finish
