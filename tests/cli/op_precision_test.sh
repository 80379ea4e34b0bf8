# Precision by operator: plain sums where they are asked for, no lower precision for what is to keep its type.
source "$(dirname "$0")/lib.sh"

# A .dbg says how each was compiled; for a machine of our choice, whose defaults are the same everywhere.
make_model vgg16 --small --image=32 --output=v.onnx >/dev/null || fail "make_model"
impls() { # OM: the Impls of its convolutions
  run 0 atc --mode=30 --om="$1.om" --output="$1"
  json "$1.dbg" "' '.join(sorted({n['impl'] for n in d['tuning'][0]['nodes'] if n['op_types'][0] == 'Conv2D'}))"
}
run 0 atc --soc_version=x86_64-icelake-server --threads=2 --model=v.onnx --output=fast
impls fast | grep -q winograd || fail "no convolution takes Winograd's algorithm anyway: $(impls fast)"
for flags in "--op_select_implmode=high_precision" "--op_select_implmode=high_precision --optypelist_for_implmode=Gemm,Conv" \
  "--op_precision_mode=mode.ini"; do
  echo 'Conv2D=high_precision' >mode.ini
  run 0 atc --soc_version=x86_64-icelake-server --threads=2 --model=v.onnx --output=plain_sums $flags
  [ -s err ] && fail "$flags: $(head -1 err)"
  impls plain_sums | grep -q winograd && fail "$flags: $(impls plain_sums)"
done
run 0 atc --soc_version=x86_64-icelake-server --threads=2 --model=v.onnx --output=others --op_select_implmode=high_precision --optypelist_for_implmode=Gemm
equal "$(impls others)" "$(impls fast)" "Impls of types that are not listed"
first=$(json fast.dbg "[n['node'] for n in d['tuning'][0]['nodes'] if 'winograd' in n['impl']][0]")
printf '[ByNodeName]\n%s = high_precision\n' "$first" >one.ini
run 0 atc --soc_version=x86_64-icelake-server --threads=2 --model=v.onnx --output=one --op_precision_mode=one.ini
run 0 atc --mode=30 --om=one.om --output=one
equal "$(json one.dbg "['winograd' in n['impl'] for n in d['tuning'][0]['nodes'] if n['node'] == '$first']")" "[False]" "the named node"
refuses 2 "means nothing alone" atc --model=v.onnx --output=x --optypelist_for_implmode=Conv2D
refuses 2 "no operator type 'Conv2d'" atc --model=v.onnx --output=x --op_select_implmode=high_precision --optypelist_for_implmode=Conv2d
refuses 2 "'exact' is unknown" atc --model=v.onnx --output=x --op_select_implmode=exact
echo 'Conv2D=exact' >bad.ini
refuses 2 "'exact' is no mode" atc --model=v.onnx --output=x --op_precision_mode=bad.ini
refuses 2 "--customize_dtypes" atc --model=v.onnx --output=x --customize_dtypes=mode.ini
echo '{"black-list": {"add": []}}' >bad.json
refuses 2 "--modify_mixlist bad.json" atc --model=v.onnx --output=x --modify_mixlist=bad.json
python3 -c 'print("{\"black-list\": {\"to-add\": [" + "[" * 1000000 + "]" * 1000000 + "]}}")' >deep.json
refuses 2 "--modify_mixlist deep.json: is no JSON object" atc --model=v.onnx --output=x --modify_mixlist=deep.json

# Products that mixed precision leaves alone: by type, by name, by list. For a machine that this one most likely is not: nothing
# is measured then.
make_model vit-b16 --small --image=32 --output=t.onnx >/dev/null || fail "make_model"
mixed() { # FLAGS...: how many products may be rounded
  run 0 atc --model=t.onnx --output=mixed --precision_mode=allow_mix_precision --soc_version=x86_64-sapphirerapids --log=info "$@"
  sed -nE 's/.*bfloat16 in [0-9]+ of ([0-9]+) products.*/\1/p' err
}
products=$(mixed)
[ "$products" -gt 1 ] || fail "nothing may be rounded: $products"
printf 'OpType::MatMul\nOpType::Gemm\nOpType::Conv\n' >keep.txt
equal "$(mixed --keep_dtype=keep.txt)" 0 "products that may be rounded but for --keep_dtype"
run 0 atc --mode=30 --om=mixed.om --output=mixed
json mixed.dbg "[n['node'] for n in d['tuning'][0]['nodes'] if n['op_types'][0] in ('Gemm', 'MatMulV2')][0]" >keep.txt
equal "$(mixed --keep_dtype=keep.txt)" $((products - 1)) "products but for one that is named"
echo '{"black-list": {"to-add": ["Gemm", "MatMulV2", "Conv2D"]}, "gray-list": {"to-add": ["Relu"]}}' >mix.json
equal "$(mixed --modify_mixlist=mix.json)" 0 "products but for those of the black list"
has err 'to-add of Relu in gray-list has no effect'
echo 'Gemm=enable_float_32_execution
Conv2D=enable_float_32_execution
MatMulV2=enable_float_32_execution' >float32.ini
equal "$(mixed --op_precision_mode=float32.ini)" 0 "products but for those of --op_precision_mode"
echo nowhere >keep.txt
mixed --keep_dtype=keep.txt >/dev/null
has err "no operator is named 'nowhere'"
finish
