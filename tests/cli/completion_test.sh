# Completions are what --help says: flags, and the values that it lists.
source "$(dirname "$0")/lib.sh"
source "$here/../../scripts/completion.bash"

# completes "WORDS" WANTED...: what is offered at the end of a line, taken apart as bash does it; sorted.
completes() {
  read -ra COMP_WORDS <<<"$1"
  [ "${1: -1}" = " " ] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _aoe_completion "${COMP_WORDS[0]}"
  equal "$(printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd" ")" "$2" "$1"
}

completes "aoe --progress_bar = " "json off on"
completes "aoe --progress_bar = o" "off on"
completes "aoe --progress_bar =" "json off on"
completes "atc --mod" "--mode= --model= --modify_mixlist="
completes "aoe_bank --rec" "--records"
completes "aoe_run --jso" "--json"
completes "atc --core_type = V" "VectorCore"
completes "aoe_report --out" "--output="
completes "aoe re" "report"
completes "aoe se" "serve_tasks"
completes "aoe_bank ex" "explain export"
completes "aoe_sign key" "keygen"
completes "msprof " "advise collect export import query show"
completes "msprof show --al" "--all"
printf '#!/bin/sh\ntouch started\n' >app; chmod +x app
completes "msprof ./app --versi" "--version" # which is not started to ask it
[ ! -e started ] || fail "a completion has started the program"
completes "msprof export --form" "--format="
completes "aoe report --outp" "--output="
completes "make_model resnet" "$(make_model --list | sed -n 's/^\(resnet[^ ]*\).*/\1/p' | sort | paste -sd" ")"
completes "aoe_run " ""
completes "atc --model = x" "" # bash goes on with files
for program in aoe atc aoe_run aoe_bank aoe_compare aoe_quantize aoe_report aoe_sign make_model msprof; do
  completes "$program --hel" "--help"
  completes "$program --versio" "--version"
done
finish
