# Flags of the documents: those that change the border of a model do, others say what they do not do here.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --image=64 --output=m.onnx >/dev/null || fail "make_model"
relu="/features/features.1/Relu"
npy_header() { head -c 120 "$1" | tr -d '\0'; }

# --out_nodes and --output_type, in atc and in aoe.
run 0 atc --model=m.onnx --output=cut --out_nodes="$relu:0" --output_type="$relu:0:FP16"
run 0 aoe_run --model=cut.om --repeat=1 --output-dir=cut
npy_header cut/*.npy >header; has header "'<f2'"
run 0 atc --model=m.onnx --output=named --out_nodes="${relu}_output_0"
run 0 aoe_run --model=named.om --repeat=1 --output-dir=named
cmp -s <(ls cut) <(ls named) || fail "a value's name names another output"
run 0 atc --model=m.onnx --output=half --output_type=FP16 --input_fp16_nodes=input
run 0 aoe_run --model=half.om --repeat=1 --output-dir=half
npy_header half/*.npy >header; has header "'<f2'"
run 7 aoe_run --model=half.om --input=input=cut/"$(ls cut)" --repeat=1
has err "float16 1x3x64x64"
run 0 aoe -j 2 -f 5 -m m.onnx --output=tuned --out_nodes="$relu:0" --output_type=FP16 --preset="$brief" --trials=4 --progress_bar=off
run 0 aoe_run --model=tuned.om --repeat=1 --output-dir=tuned
npy_header tuned/*.npy >header; has header "'<f2'"
cmp -s <(ls cut) <(ls tuned) || fail "aoe cuts elsewhere"

# Passes by flags.
ops() { atc --mode=6 --om="$1" | sed -nE 's/.* ops\[([0-9]+).*/\1/p'; }
run 0 atc --model=m.onnx --output=plain
run 0 atc --model=m.onnx --output=simple --oo_level=O1
run 0 atc --model=m.onnx --output=switched --optimization_switch="fuse_epilogues:off"
run 0 atc --model=m.onnx --output=again --oo_level=O1 --optimization_switch="ALL:on"
[ "$(ops simple.om)" -gt "$(ops plain.om)" ] || fail "--oo_level=O1 fused"
[ "$(ops switched.om)" -gt "$(ops plain.om)" ] || fail "--optimization_switch fused"
equal "$(ops again.om)" "$(ops plain.om)" "--optimization_switch behind --oo_level"
run 0 atc --model=m.onnx --output=m --aicore_num=1
run 0 atc --mode=6 --om=m.om
has out 'threads\[1\]'
mkdir bank
run 0 atc --model=m.onnx --output=m --log=info --mdl_bank_path=bank --buffer_optimize=off_optimize
has err '--mdl_bank_path does not count with --buffer_optimize=off_optimize'
has err 'graph bank .* \(from default\)'

# Known flags without effect: one line each; none for what is so anyway.
run 0 atc --model=m.onnx --output=m --host_env_os=linux --host_env_cpu=x86_64 --virtual_type=0 --core_type=AiCore \
  --jit_compile=1 --deterministic=1 --external_weight=0 --op_compiler_cache_mode=disable --status_check=0 --enable_single_stream=true
[ -s err ] && fail "what is so anyway is warned of: $(head -1 err)"
run 0 atc --model=m.onnx --output=m --virtual_type=1 --core_type=VectorCore --online_model_type=2 --external_weight=1 \
  --op_compiler_cache_mode=force --status_check=1 --sparsity=1
equal "$(grep -c 'has no effect: ' err)" 7 "lines about flags without effect"
has err '--core_type=VectorCore has no effect: a CPU has one kind of core'
run 0 aoe_run --model=m.om --repeat=1

# AOE_CONFIG_DIR, with a slash behind or not: the built-in bank lies beside it, not in it.
soc=$(atc --mode=6 --om=plain.om | sed -nE 's/.*soc_version\[([^]]*)\].*/\1/p')
mkdir -p share/bank/op/"$soc"
cp -r "$here/../../configs" share/configs
echo "no bank" >share/bank/op/"$soc"/file
for dir in share/configs share/configs/ "$work/share/./configs//"; do
  run 5 env AOE_CONFIG_DIR="$dir" atc --model=m.onnx --output=m
  has err "share/bank/op/$soc: is not a bank"
  run 0 env AOE_CONFIG_DIR="$dir" atc --model=m.onnx --output=m --soc_version=x86_64-haswell
done
run 2 env AOE_CONFIG_DIR=absent atc --model=m.onnx --output=m --soc_version=x86_64-haswell
refuses 2 "AOE_CONFIG_DIR absent: there is no such directory" env AOE_CONFIG_DIR=absent atc --model=m.onnx --output=m

rm -f m.om
refuses 2 "--host_env_os: 'windows' is not for a CPU; oms run on Linux" atc --model=m.onnx --output=m --host_env_os=windows
refuses 2 "--host_env_cpu: 'aarch64'" atc --model=m.onnx --output=m --host_env_cpu=aarch64
refuses 2 "--core_type: 'Core' is no value of it; use AiCore|VectorCore" atc --model=m.onnx --output=m --core_type=Core
refuses 2 "--jit_compile: '3' is no value of it; use 0..2" atc --model=m.onnx --output=m --jit_compile=3
refuses 2 "--weight: 'm.caffemodel' is no file" atc --model=m.onnx --output=m --weight=m.caffemodel
refuses 2 "aoe tunes" atc --model=m.onnx --output=m --auto_tune_mode="RL,GA"
refuses 2 "--is_input_adjust_hw_layout" atc --model=m.onnx --output=m --is_input_adjust_hw_layout=true
refuses 2 "--aicore_num: means the same as --threads" atc --model=m.onnx --output=m --aicore_num=1 --threads=2
refuses 2 "--buffer_optimize" atc --model=m.onnx --output=m --buffer_optimize=l3_optimize
refuses 2 "--oo_level" atc --model=m.onnx --output=m --oo_level=O2
refuses 2 "--optimization_switch: 'fuse_epilogues' has no ':'" atc --model=m.onnx --output=m --optimization_switch=fuse_epilogues
refuses 2 "--output_type: 'FP8' is no type" atc --model=m.onnx --output=m --output_type=FP8
refuses 2 "is no output of the model" atc --model=m.onnx --output=m --output_type="$relu:0:FP16"
refuses 2 "the model has no input 'data'" atc --model=m.onnx --output=m --input_fp16_nodes=data
refuses 2 "--host_env_os" aoe -j 2 -f 5 -m m.onnx --host_env_os=windows
finish
