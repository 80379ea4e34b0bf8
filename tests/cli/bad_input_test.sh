# Bad input gets one clear line, a documented exit code, and leaves nothing half-written.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --output=m.onnx >/dev/null || fail "make_model"
atc --framework=5 --model=m.onnx --output=good >/dev/null || fail "atc"
mkdir directory
echo "hello, world" >text.onnx
head -c $(($(stat -c %s m.onnx) / 2)) m.onnx >half.onnx
: >empty.onnx
head -c 1000 good.om >cut.om
python3 - <<'PY'
bytes_ = bytearray(open('good.om', 'rb').read())
bytes_[len(bytes_) // 2] ^= 1
open('flipped.om', 'wb').write(bytes_)
PY
mkdir -p not_a_bank/op
soc=$(atc --mode=6 --om=good.om | sed -nE 's/.*soc_version\[([^]]+)\].*/\1/p')
[ -n "$soc" ] || fail "no soc_version in the report of --mode=6"
mkdir -p "not_a_bank/op/$soc" && echo x >"not_a_bank/op/$soc/holiday.jpg"

for tool in "atc --output=m" "aoe --job_type=2"; do
  refuses 3 absent.onnx $tool --framework=5 --model=absent.onnx
  refuses 3 directory $tool --framework=5 --model=directory
  refuses 3 text.onnx $tool --framework=5 --model=text.onnx
  refuses 3 half.onnx $tool --framework=5 --model=half.onnx
  refuses 3 empty.onnx $tool --framework=5 --model=empty.onnx
  refuses 3 "" $tool --framework=5 --model=m.onnx --input_shape="input:1,3,17"
  refuses 2 nosuch $tool --framework=5 --model=m.onnx --input_shape="nosuch:1,3,224,224"
  refuses 2 input_shape $tool --framework=5 --model=m.onnx --input_shape="data=1x3"
  refuses 2 "unknown flag" $tool --framework=5 --model=m.onnx --no_such_flag=1
  refuses 2 framework $tool --framework=3 --model=m.onnx
  refuses 2 framework $tool --framework=soup --model=m.onnx
  refuses 2 model $tool --framework=5
done
refuses 2 job_type aoe --framework=5 --model=m.onnx --job_type=4
refuses 2 job_type aoe --framework=5 --model=m.onnx
refuses 6 absent/m atc --framework=5 --model=m.onnx --output=absent/m
refuses 6 /proc atc --framework=5 --model=m.onnx --output=/proc/m
refuses 2 soc atc --framework=5 --model=m.onnx --output=m --soc_version=Ascend310P3
TUNE_BANK_PATH=$PWD/absent refuses 5 TUNE_BANK_PATH atc --framework=5 --model=m.onnx --output=m
TUNE_BANK_PATH=$PWD/not_a_bank refuses 5 "not a bank" atc --framework=5 --model=m.onnx --output=m
TUNE_BANK_PATH=$PWD/not_a_bank refuses 5 "not a bank" aoe --framework=5 --model=m.onnx --job_type=2
TUNE_BANK_PATH=$PWD/not_a_bank refuses 5 "not a bank" aoe_bank list --soc_version="$soc"

refuses 4 absent.om aoe_run --model=absent.om
refuses 4 text.onnx aoe_run --model=text.onnx
refuses 4 cut.om aoe_run --model=cut.om
refuses 4 flipped.om aoe_run --model=flipped.om
refuses 2 "unknown flag" aoe_run --model=good.om --speed=ludicrous
refuses 7 absent.npy aoe_run --model=good.om --input=input=absent.npy
refuses 7 text.onnx aoe_run --model=good.om --input=input=text.onnx
refuses 2 nosuch aoe_run --model=good.om --input=nosuch=text.onnx
refuses 2 nosuchmodel make_model nosuchmodel --output=x.onnx
refuses 6 absent/x make_model squeezenet --small --output=absent/x.onnx
finish
