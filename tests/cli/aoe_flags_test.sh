# Every documented flag of aoe does something, says that it does nothing here, or is refused with the reason.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --image=32 --output=m.onnx >/dev/null || fail "make_model"
mkdir bank w
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
tune() { aoe --framework=5 --progress_bar=off --preset="$brief" --trials=2 "$@"; }

run 0 aoe --help
for flag in model model_path weight framework job_type input_format input_shape dynamic_batch_size dynamic_image_size dynamic_dims reload \
    singleop tune_ops_file tune_optimization_level Fdeeper_opat Fop_format Fnonhomo_split device ip port progress_bar output output_type \
    out_nodes input_fp16_nodes insert_op_conf op_name_map is_input_adjust_hw_layout is_output_adjust_hw_layout host_env_os host_env_cpu \
    aicore_num virtual_type precision_mode precision_mode_v2 op_precision_mode op_select_implmode optypelist_for_implmode modify_mixlist \
    keep_dtype customize_dtypes op_debug_level log disable_reuse_memory fusion_switch_file enable_scope_fusion_passes \
    enable_single_stream enable_small_channel enable_compress_weight compress_weight_conf compression_optimize_conf buffer_optimize \
    sparsity core_type op_tune_mode op_tune_file op_tune_kernel_path build_bypass; do
  grep -qE -- "--$flag( |$)" out || fail "--help does not know the documented flag --$flag"
done

# What a CPU has nothing for.
refuses 2 "--ip: '10.0.0.1' is not for a CPU; tuning measures on the machine that it runs on" tune -j 2 -m m.onnx --ip=10.0.0.1
refuses 2 "--port:" tune -j 2 -m m.onnx --port=8000
refuses 2 "--op_tune_mode:" tune -j 2 -m m.onnx --op_tune_mode=static_kernel
refuses 2 "--op_tune_file:" tune -j 2 -m m.onnx --op_tune_file=ops
refuses 2 "--op_tune_kernel_path:" tune -j 2 -m m.onnx --op_tune_kernel_path=kernels
refuses 2 "--build_bypass:" tune -j 2 -m m.onnx --build_bypass=x
refuses 2 "use --precision_mode" tune -j 2 -m m.onnx --precision_mode_v2=fp16
refuses 2 "--weight:" tune -j 2 -m m.onnx -w m.onnx
refuses 2 "'9' is no value of it" tune -j 2 -m m.onnx --op_debug_level=9
refuses 2 "--Fop_format: is of operator tuning" tune -j 1 -m m.onnx --Fop_format
refuses 2 "--Fdeeper_opat: is of operator tuning" tune -j 1 -m m.onnx --Fdeeper_opat
refuses 2 "--Fnonhomo_split: is of subgraph tuning" tune -j 2 -m m.onnx --Fnonhomo_split
run 0 tune -j 2 -m m.onnx --Fop_format --op_debug_level=1 --disable_reuse_memory=1 --buffer_optimize=off_optimize
for flag in Fop_format op_debug_level=1 disable_reuse_memory=1 buffer_optimize=off_optimize; do
  equal "$(grep -c -- "--$flag has no effect" err)" 1 "lines about --$flag"
done
run 0 tune -j 1 -m m.onnx --Fnonhomo_split
has err "--Fnonhomo_split has no effect"

# Variables.
AOE_MODE=4 refuses 2 "AOE_MODE: 4 is for gradients" tune -m m.onnx
AOE_MODE=x refuses 2 "AOE_MODE" tune -m m.onnx
ASCEND_DEVICE_ID=1 refuses 2 "ASCEND_DEVICE_ID: 1 does not exist" tune -j 2 -m m.onnx
refuses 2 "--device: 1 does not exist" tune -j 2 -m m.onnx --device=1
rm -rf w/*
AOE_MODE=1 ASCEND_DEVICE_ID=0 run 0 tune -m m.onnx
json "$(ls w/aoe_result_*.json)" "[list(e)[0] for e in d]" | grep -q OPAT && fail "AOE_MODE=1 has tuned operators"
rm -rf w/*
AOE_MODE=1 run 0 tune -j 2 -m m.onnx
has <(json "$(ls w/aoe_result_*.json)" "[list(e)[0] for e in d]") OPAT

# Several models.
refuses 2 "--model: and --model_path exclude each other" tune -j 2 -m m.onnx --model_path=.
mkdir empty models oms
refuses 2 "--model_path empty: has no .onnx file" tune -j 2 --model_path=empty
cp m.onnx models/a.onnx; cp m.onnx models/b.onnx
refuses 3 "--model_path nowhere: cannot be read" tune -j 2 --model_path=nowhere
refuses 3 "nothing.json: cannot be opened" tune -j 2 --singleop=nothing.json
refuses 6 "--output nowhere: is no directory" tune -j 2 --model_path=models --output=nowhere
run 0 tune -j 2 --model_path=models --output=oms
equal "$(ls oms | tr '\n' ' ')" "a.om b.om " "tuned models"
equal "$(grep -c '^result: ' out)" 2 "reports"
run 0 aoe_run --model=oms/b.om

# Single operators.
cat >ops.json <<'JSON'
[{"op": "MatMulV2", "name": "product",
  "input_desc": [{"format": "ND", "shape": [32, 48], "type": "float32"}, {"format": "ND", "shape": [48, 16], "type": "float32"}],
  "output_desc": [{"format": "ND", "shape": [32, 16], "type": "float32"}]},
 {"op": "SoftmaxV2", "name": "softmax", "input_desc": [{"format": "ND", "shape": [16, 100], "type": "float32"}],
  "output_desc": [{"format": "ND", "shape": [16, 100], "type": "float32"}], "attr": [{"name": "axes", "type": "list_int", "value": [1]}]}]
JSON
rm -rf w/* oms/*
run 0 tune -j 2 --singleop=ops.json --output=oms
equal "$(ls oms | tr '\n' ' ')" "product.om softmax.om " "tuned operators"
equal "$(ls w/aoe_result_opat_*.json | wc -l)" 2 "results"
run 0 aoe_run --model=oms/product.om
refuses 2 "--input_shape: is of models" tune -j 2 --singleop=ops.json --input_shape=x:1
sed 's/"axes"/"transA"/' ops.json >bad_ops.json
refuses 2 "operator 'SoftmaxV2' has no attribute 'transA'" tune -j 2 --singleop=bad_ops.json --output=oms
refuses 2 "--model: and --singleop exclude each other" tune -j 2 --singleop=ops.json -m m.onnx
refuses 2 "names one job" tune -j 2 --singleop=ops.json --reload=some_job
finish
