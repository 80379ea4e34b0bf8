# Bad input gets one clear line, a documented exit code, and leaves nothing half-written.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --output=m.onnx >/dev/null || fail "make_model"
atc --framework=5 --model=m.onnx --output=good >/dev/null || fail "atc"
mkdir directory
echo "hello, world" >text.onnx
head -c $(($(stat -c %s m.onnx) / 2)) m.onnx >half.onnx
: >empty.onnx
truncate --size=1T large.onnx
head -c 1000 good.om >cut.om
python3 "$here/bad_models.py" # unsupported, contradiction, declared, mistyped, dangling.onnx
mkdir taken.om
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
  refuses 1 "large.onnx: needs 1024.0 GiB of memory" $tool --framework=5 --model=large.onnx
  refuses 3 "node odd_one (ONNX FancyThing, opset 13), node odd_two (ONNX OtherThing, opset 13)" \
    $tool --framework=5 --model=unsupported.onnx
  refuses 3 "node mm" $tool --framework=5 --model=contradiction.onnx
  refuses 3 "contradictory types" $tool --framework=5 --model=mistyped.onnx
  refuses 3 "reads 'q'" $tool --framework=5 --model=dangling.onnx
  refuses 3 "" $tool --framework=5 --model=m.onnx --input_shape="input:1,3,17"
  refuses 2 nosuch $tool --framework=5 --model=m.onnx --input_shape="nosuch:1,3,224,224"
  refuses 2 input_shape $tool --framework=5 --model=m.onnx --input_shape="data=1x3"
  refuses 2 "unknown flag" $tool --framework=5 --model=m.onnx --no_such_flag=1
  refuses 2 framework $tool --framework=3 --model=m.onnx
  refuses 2 framework $tool --framework=soup --model=m.onnx
  refuses 2 model $tool --framework=5
done
# An output that is declared in another shape than it has is told, not refused, as elsewhere.
atc --framework=5 --model=declared.onnx --output=declared >/dev/null 2>log || fail "a wrongly declared shape: $(cat log)"
grep -q "output 'y': contradictory shapes" log || fail "nothing says that the shape of y is declared wrongly: $(cat log)"
# Pipes that nobody writes into, numbers that are none, and bytes that are no text.
mkfifo pipe.onnx pipe.om
for tool in "atc --output=m" "aoe --job_type=2"; do
  refuses 3 pipe.onnx timeout 60 $tool --framework=5 --model=pipe.onnx
  refuses 2 "not UTF-8" $tool --framework=5 --model=$'caf\xe9.onnx'
done
refuses 4 pipe.om timeout 60 aoe_run --model=pipe.om
for number in inf nan -inf 1e999; do
  refuses 2 time_limit aoe --framework=5 --model=m.onnx --job_type=2 --time_limit=$number
done
refuses 2 seed aoe --framework=5 --model=m.onnx --job_type=2 --seed=-1
refuses 2 seed make_model squeezenet --output=n.onnx --seed -1
refuses 2 job_type aoe --framework=5 --model=m.onnx --job_type=4
refuses 2 job_type aoe --framework=5 --model=m.onnx
# Words that read like the placeholders of the flag library's messages: it would replace them for ever.
refuses 2 "'%value%%option%'" timeout 60 aoe --framework=5 --model=m.onnx --job_type=%value%%option%
refuses 2 "'%canonical_option%'" timeout 60 atc --framework=%canonical_option% --model=m.onnx
for tool in atc "aoe --job_type=2"; do
  refuses 6 absent/m $tool --framework=5 --model=m.onnx --output=absent/m
  refuses 6 /proc $tool --framework=5 --model=m.onnx --output=/proc/m
  refuses 6 taken.om $tool --framework=5 --model=m.onnx --output=taken
  refuses 2 "names no file" $tool --framework=5 --model=m.onnx --output=directory/
done
TMPDIR=/nonexistent atc --framework=5 --model=m.onnx --output=no_tmpdir >/dev/null || fail "atc needs no TMPDIR"
for place in /proc/x "$PWD/text.onnx"; do
  ASCEND_WORK_PATH=$place refuses 6 ASCEND_WORK_PATH aoe --job_type=2 --framework=5 --model=m.onnx
done
refuses 6 /proc/x aoe_run --model=good.om --output-dir=/proc/x
refuses 6 text.onnx aoe_run --model=good.om --output-dir=text.onnx
refuses 2 soc atc --framework=5 --model=m.onnx --output=m --soc_version=Ascend310P3
TUNE_BANK_PATH=$PWD/absent refuses 5 TUNE_BANK_PATH atc --framework=5 --model=m.onnx --output=m
TUNE_BANK_PATH=$PWD/absent refuses 5 TUNE_BANK_PATH aoe --framework=5 --model=m.onnx --job_type=2
TUNE_BANK_PATH=$PWD/not_a_bank refuses 5 "not a bank" atc --framework=5 --model=m.onnx --output=m
TUNE_BANK_PATH=$PWD/not_a_bank refuses 5 "not a bank" aoe --framework=5 --model=m.onnx --job_type=2
TUNE_BANK_PATH=$PWD/not_a_bank refuses 5 "not a bank" aoe_bank list --soc_version="$soc"

refuses 4 absent.om aoe_run --model=absent.om
refuses 4 text.onnx aoe_run --model=text.onnx
refuses 4 cut.om aoe_run --model=cut.om
refuses 4 directory aoe_run --model=directory
# One flipped bit, wherever it is, is found before anything runs.
python3 "$here/flipped_bits.py" good.om || fail "a damaged om was taken"
refuses 2 "unknown flag" aoe_run --model=good.om --speed=ludicrous
refuses 7 absent.npy aoe_run --model=good.om --input=input=absent.npy
refuses 7 text.onnx aoe_run --model=good.om --input=input=text.onnx
refuses 2 nosuch aoe_run --model=good.om --input=nosuch=text.onnx
refuses 2 nosuchmodel make_model nosuchmodel --output=x.onnx
refuses 2 "did you mean squeezenet" make_model squeznet --output=x.onnx
refuses 6 absent/x make_model squeezenet --small --output=absent/x.onnx
finish
