# Without /proc: everything works that loads and links no code; the rest says what to do, and blames no file.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --image=32 --output=m.onnx >/dev/null || fail "make_model"
run 0 atc --framework=5 --model=m.onnx --output=m
run 0 aoe --framework=5 --model=m.onnx --job_type=2 --search_limit=1 --preset="$brief" --output=tuned --result=tuned.json

namespace=(unshare --mount --map-root-user)
"${namespace[@]}" mount -t tmpfs none /proc 2>/dev/null || { echo "SKIPPED: no mount namespace is to be had here"; exit 77; }
without_proc() { # without_proc VERB CODE [TEXT] COMMAND...
  local verb=("$1" "$2"); shift 2
  [ "${verb[0]}" = run ] || { verb+=("$1"); shift; }
  "${verb[@]}" "${namespace[@]}" bash -c 'mount -t tmpfs none /proc && exec "$@"' _ "$@"
}

without_proc refuses 1 "mount /proc" atc --framework=5 --model=m.onnx --output=other
without_proc refuses 1 "mount /proc" aoe_run --model=m.om
without_proc refuses 1 "mount /proc" aoe_compare a=m.om,tuned.om
without_proc run 1 aoe --framework=5 --model=m.onnx --job_type=2 --output=other --result=other.json
has err "mount /proc"
without_proc run 0 aoe report tuned.json --output=r.html
without_proc run 0 aoe_bank verify
without_proc run 0 atc --mode=6 --om=m.om
without_proc run 0 aoe_sign keygen k
finish
