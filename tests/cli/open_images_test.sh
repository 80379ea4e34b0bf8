# Networks over images of any size: one om gives at each what the om for that size gives.
source "$(dirname "$0")/lib.sh"

off() { python3 "$here/output_difference.py" "$1" "$2"; }
is_below() { python3 -c "import sys; sys.exit(not 0 <= float(sys.argv[1]) <= float(sys.argv[2]))" "$1" "$2"; }

for network in mobilenetv2 efficientnet-b0 resnet50 squeezenet resnext50; do
  make_model $network --small --dynamic --seed=3 --output=$network.onnx >/dev/null || fail "make_model $network"
  run 0 atc --framework=5 --model=$network.onnx --input_shape="input:-1,3,-1,-1" --output=$network
  for size in 1x64x64 3x96x73; do
    IFS=x read -r batch height width <<<"$size"
    run 0 atc --framework=5 --model=$network.onnx --input_shape="input:$batch,3,$height,$width" --output=known
    /usr/bin/python3 -c "
import numpy
numpy.save('x.npy', numpy.random.RandomState(1).rand($batch, 3, $height, $width).astype(numpy.float32))" || fail "numpy"
    run 0 aoe_run --model=known.om --input=input=x.npy --repeat=1 --output-dir=known
    for threads in 1 2; do
      run 0 aoe_run --model=$network.om --input=input=x.npy --repeat=3 --threads=$threads --output-dir=open
      is_below "$(off known open)" 1e-4 || fail "$network of $size is off by $(off known open) of the range"
    done
  done
done

# Pointwise and depthwise convolutions have their channels last there.
run 0 atc --mode=6 --om=mobilenetv2.om
has out 'type\[NhwcConv2D'
finish
