# atc: its flags do what they say, and the om does not depend on those that only change how it is made.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --image=64 --output=m.onnx >/dev/null || fail "make_model"
field() { sed -nE "s/.*[ ,]$1\[([0-9]+).*/\1/p" out; }
same_result() { # OM: gives what the plain om gave
  run 0 aoe_run --model="$1" --repeat=1 --output-dir="r_$1"
  python3 - plain_result/*.npy r_"$1"/*.npy <<'PY' || fail "$1 gives another result"
import struct, sys
def load(path):
    data = open(path, 'rb').read()
    return [v[0] for v in struct.iter_unpack('<f', data[10 + struct.unpack('<H', data[8:10])[0]:])]
a, b = load(sys.argv[1]), load(sys.argv[2])
spread = max(a) - min(a) or 1.0
sys.exit(0 if len(a) == len(b) and all(abs(x - y) <= 1e-4 * spread for x, y in zip(a, b)) else 1)
PY
}

run 0 atc --framework=5 --model=m.onnx --output=plain
equal "$(cat out)" "ATC run success, welcome to the next use." "message"
[ -s err ] && fail "a quiet run wrote to stderr"
exists plain.om
# What is read by people is a line for each pass and op, not one for each Impl that an op might have had.
run 0 atc --framework=5 --model=m.onnx --output=plain --log=debug
[ "$(wc -l <err)" -lt 500 ] || fail "$(wc -l <err) lines of --log=debug"
run 0 atc --framework=5 --model=m.onnx --output=plain --log=trace
has err 'impl=winograd.* refused: '
run 0 atc --framework=5 --model=m.onnx --output=plain
run 0 aoe_run --model=plain.om --repeat=1 --output-dir=plain_result
run 0 atc --mode=6 --om=plain.om
has out '^Original Atc command line: atc --framework=5 --model=m.onnx --output=plain$'
has out '^system +info: atc_version\[[0-9.]+\], soc_version\[x86_64-[a-z0-9-]+-2t\], framework_type\[5\]'
has out '^resource info: memory_size\[[0-9]+ B\], weight_size\[[0-9]+ B\], stream_num\[1\], event_num\[0\]'
has out '^om +info: modeldef_size\[[0-9]+ B\], weight_data_size\[[0-9]+ B\], tbe_kernels_size\[[0-9]+ B\]'
memory=$(field memory_size)

run 0 atc -f 5 -m m.onnx --output twice.om --display_model_info=1
has out '^system +info'
exists twice.om

run 0 atc --model=m.onnx --output=roomy --disable_reuse_memory=1
run 0 atc --mode=6 --om=roomy.om
[ "$(field memory_size)" -gt "$memory" ] || fail "memory is reused all the same"
same_result roomy.om

# Passes are off one by one and all together, in both forms of the file; what is no pass is told.
printf 'fuse_epilogues:off\n\nSomeFusionPass:off\n' >lines.cfg
run 0 atc --model=m.onnx --output=lines --fusion_switch_file=lines.cfg
has err "no pass 'SomeFusionPass'; there are: .*fuse_epilogues"
same_result lines.om
echo '{"Switch": {"GraphFusion": {"fold_constants": "on", "ALL": "off"}, "UBFusion": {"ALL": "off"}}}' >all.json
run 0 atc --model=m.onnx --output=all --fusion_switch_file=all.json
same_result all.om
ops() { atc --mode=6 --om="$1" >out && field ops; }
[ "$(ops lines.om)" -gt "$(ops plain.om)" ] || fail "fuse_epilogues ran"
[ "$(ops all.om)" -ge "$(ops lines.om)" ] || fail "some pass ran"

run 0 atc --model=m.onnx --output=dumped --op_debug_level=4 --debug_dir=kernels
ls kernels/*.s kernels/*.nest >/dev/null || fail "no kernels were kept"
ls kernels/*.ll >/dev/null 2>&1 && fail "level 4 kept LLVM IR"
json kernels/kernels.json "d[sorted(d)[0]][0]['node']" >/dev/null || fail "kernels.json"
cmp -s <(tail -c +4097 plain.om | head -c 10000) <(tail -c +4097 dumped.om | head -c 10000) || fail "debugging changed the om"

run 0 atc --model=m.onnx --output=other --soc_version=x86_64-haswell --threads=4
run 0 atc --mode=6 --om=other.om
has out 'soc_version\[x86_64-haswell-4t\].*isa\[avx2\], threads\[4\]'
run 0 atc --model=m.onnx --output=part --out_nodes="/features/features.1/Relu:0"
run 0 aoe_run --model=part.om --repeat=1 --output-dir=part_result
equal "$(ls part_result)" "_features_features.1_Relu_output_0.npy" "the output of --out_nodes"

run 0 env CANN_KNOWLEDGE_BANK_PROCESS_NUM=0 atc --model=m.onnx --output=m --log=info
has err 'banks are not queried'
mkdir flag variable
run 0 atc --model=m.onnx --output=m --log=info --op_bank_path=flag
has err "op bank $work/flag/op/.* \(from --op_bank_path\): 0 of [0-9]+ ops hit the bank"
run 0 env TUNE_BANK_PATH=variable atc --model=m.onnx --output=m --log=info --op_bank_path=flag --mdl_bank_path=flag
has err "op bank $work/variable/op/.* \(from TUNE_BANK_PATH\)"
has err "graph bank $work/flag/graph/.* \(from --mdl_bank_path\)"
[ -z "$(ls flag variable | grep -v :)" ] || fail "compiling wrote into a bank"

rm m.om
refuses 2 --output atc --model=m.onnx
refuses 2 --mode atc --mode=2 --model=m.onnx --output=m
refuses 2 --om atc --mode=6
refuses 4 text.om atc --mode=6 --om=text.om
refuses 2 "'fp8' is unknown" atc --model=m.onnx --output=m --precision_mode=fp8
refuses 2 "unknown" atc --model=m.onnx --output=m --precision_mode=fast
refuses 2 --input_format atc --model=m.onnx --output=m --input_format=NHWC
refuses 2 --disable_reuse_memory atc --model=m.onnx --output=m --disable_reuse_memory=2
refuses 2 --op_debug_level atc --model=m.onnx --output=m --op_debug_level=5
refuses 2 --threads atc --model=m.onnx --output=m --threads=0
refuses 2 --out_nodes atc --model=m.onnx --output=m --out_nodes=nosuch:0
refuses 2 absent.cfg atc --model=m.onnx --output=m --fusion_switch_file=absent.cfg
echo 'fuse_epilogues:maybe' >wrong.cfg
refuses 2 wrong.cfg atc --model=m.onnx --output=m --fusion_switch_file=wrong.cfg
echo '{"Switch": [' >wrong.json
refuses 2 wrong.json atc --model=m.onnx --output=m --fusion_switch_file=wrong.json
refuses 5 --op_bank_path atc --model=m.onnx --output=m --op_bank_path=absent
CANN_KNOWLEDGE_BANK_PROCESS_NUM=9 refuses 2 CANN_KNOWLEDGE_BANK_PROCESS_NUM atc --model=m.onnx --output=m
TE_PARALLEL_COMPILER=x refuses 2 TE_PARALLEL_COMPILER atc --model=m.onnx --output=m
finish
