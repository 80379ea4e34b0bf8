# Every program explains itself.
source "$(dirname "$0")/lib.sh"
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
finish
