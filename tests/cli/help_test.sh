# Every program explains itself.
source "$(dirname "$0")/lib.sh"
for program in aoe atc aoe_run aoe_bank make_model msprof; do
  run 0 $program --help
  has out '^usage: '
  has out 'Examples?:'
  [ -s err ] && fail "$program --help wrote to stderr"
  refuses 2 "--help" $program --help_me_please_now=1 # far from any flag: advice is --help
done
finish
