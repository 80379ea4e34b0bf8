# Every program explains itself.
source "$(dirname "$0")/lib.sh"
widest() { awk '{ if (length > most) most = length } END { print most + 0 }' out; }

for program in aoe atc aoe_run aoe_bank aoe_compare aoe_quantize aoe_report aoe_sign make_model msprof; do
  run 0 $program --help
  has out '^usage: '
  has out 'Examples?:'
  [ -s err ] && fail "$program --help wrote to stderr"
  run 0 $program --version
  has out "^$program [0-9]+\.[0-9]+\.[0-9]+$"
  has out '^engine +aoe [0-9.]+$'
  has out '^LLVM +[0-9.]+$'
  has out '^oneDNN +[0-9.]+$'
  has out '^soc +x86_64-[a-z0-9-]+-2t$'
  refuses 2 "--help" $program --help_me_please_now=1 # far from any flag: advice is --help
done
for form in "aoe" "aoe serve_tasks" "aoe_run" "atc" "aoe_bank" "aoe_compare" "aoe_quantize" "aoe_report" "aoe_sign" "make_model" "msprof" \
  "msprof collect" "msprof import" "msprof export" "msprof query" "msprof show" "msprof advise" \
  "msprof --export=on" "msprof --parse=on" "msprof --query=on" "msprof --analyze=on"; do
  run 0 $form --help
  [ "$(widest)" -le 80 ] || fail "$form --help has $(widest) columns: $(awk 'length > 80' out | head -1)"
done
finish
