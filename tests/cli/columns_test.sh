# Tables keep to a terminal of 80 columns, whatever ops are called, and into a pipe they go whole.
source "$(dirname "$0")/lib.sh"
command -v script >/dev/null || { echo "no script(1) to make a terminal with"; exit 77; }

on_terminal() { script -qec "stty cols 80; $*" /dev/null | tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g'; }
widest() { awk '{ if (length > most) most = length } END { print most + 0 }'; }

make_model squeezenet --small --image=32 --output=m.onnx >/dev/null || fail "make_model"
mkdir bank
aoe_fill_bank m.onnx bank 2 || fail "aoe_fill_bank"
export TUNE_BANK_PATH=$PWD/bank
run 0 atc --framework=5 --model=m.onnx --output=m

on_terminal aoe_bank list | sed '$d' >table # the last line has the bank's path
[ "$(widest <table)" -le 80 ] || fail "aoe_bank list has $(widest <table) columns"
[ "$(wc -l <table)" -gt 10 ] || fail "aoe_bank list has no rows"
run 0 aoe_bank list
[ "$(sed '$d' out | widest)" -gt 80 ] || fail "into a pipe names are whole"
equal "$(awk 'NR > 1 { print $1 }' table)" "$(sed '$d' out | awk 'NR > 1 { print $1 }')" "keys, which are never cut"

on_terminal aoe_bank explain m.om >table
[ "$(widest <table)" -le 80 ] || fail "aoe_bank explain has $(widest <table) columns"
run 0 aoe_bank explain m.om
has out '^/features/features.3/expand3x3/Conv +Conv2D\+Relu '

on_terminal aoe_run --model=m.om --profile >table
[ "$(widest <table)" -le 80 ] || fail "aoe_run --profile has $(widest <table) columns"
has table '^/feat\.\..*AI_CORE'
run 0 aoe_run --model=m.om --profile
has out '^/features/features.3/expand3x3/Conv +Conv2D\+Relu '
finish
