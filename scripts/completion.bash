# Completion of flags and their values for bash, from what each program's --help says; for zsh after
# `autoload -U bashcompinit && bashcompinit`. Source it, or let an installation's bash-completion find it.

_aoe_completion() {
  local program=$1 word=${COMP_WORDS[COMP_CWORD]} flag="" help values words=""
  # Bash takes --flag=value apart: "--flag", "=", "value".
  if [ "$word" = "=" ]; then
    flag=${COMP_WORDS[COMP_CWORD - 1]} word=""
  elif [ "$COMP_CWORD" -ge 2 ] && [ "${COMP_WORDS[COMP_CWORD - 1]}" = "=" ]; then
    flag=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  help=$("$program" --help 2>/dev/null) || return
  case ${program##*/} in # first words: what --help lists, which stands behind two blanks
    aoe) words="report serve_tasks" ;;
    make_model) [ "$COMP_CWORD" -gt 1 ] || words=$("$program" --list 2>/dev/null | sed 's/ .*//') ;;
    *) words=$(printf '%s\n' "$help" | sed -nE '/^Flags:/q; s/^  ([a-z_]+)( .*)?$/\1/p') ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ] && [[ $word != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    return
  elif [ "$COMP_CWORD" -gt 1 ] && [[ $'\n'${words// /$'\n'}$'\n' == *$'\n'${COMP_WORDS[1]}$'\n'* ]]; then # it may have flags of its own
    help=$("$program" "${COMP_WORDS[1]}" --help 2>/dev/null) || return
  fi
  if [ -n "$flag" ]; then # the values that are told as a|b|c; else files
    values=$(printf '%s\n' "$help" | sed -nE "s/^ +(-. \[ )?$flag( \])? ([A-Za-z0-9_.]+(\|[A-Za-z0-9_.]+)+).*/\3/p" | head -1)
    mapfile -t COMPREPLY < <(compgen -W "${values//|/ }" -- "$word")
  elif [[ $word == -* ]]; then # a flag with a value is left open behind its =
    values=$(printf '%s\n' "$help" | sed -nE 's/^ +(-. \[ )?(--[A-Za-z_0-9-]+)( \])? ([A-Z][A-Za-z]*|[^ ]*\|[^ ]*|[0-9].*)?( .*)?$/\2 \4/p' |
      awk '{ print $1 (NF > 1 ? "=" : "") }')
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
  fi
}

complete -o default -o nospace -F _aoe_completion aoe atc aoe_run aoe_bank aoe_compare aoe_quantize aoe_report aoe_sign make_model msprof
