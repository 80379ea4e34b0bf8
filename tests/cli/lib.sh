# Shared by the command-line tests: source it first. $1 of the test is the directory of the programs.
set -u
bin=$(cd "$1" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
brief=$(dirname "$here")/brief_preset.json  # for --preset of a run whose times nobody asks for
export PATH=$bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export HOME=$work/home OMP_NUM_THREADS=2
unset TUNE_BANK_PATH ASCEND_CACHE_PATH ASCEND_WORK_PATH REPEAT_TUNE
mkdir -p "$HOME"
failures=0

fail() { echo "FAIL: $*"; failures=$((failures + 1)); }

# run CODE COMMAND...: runs, keeps stdout and stderr in files out and err, checks the exit code. err is without the lines in which
# aoe says that the machine is busy, or that others measure: so it may be, under a test.
run() {
  local wanted=$1; shift
  "$@" >out 2>err; local code=$?
  sed -i '/other programs use [0-9.]* of [0-9]* cores; times will be noisy$/d; /\] measuring at once on this machine/d' err
  [ "$code" -eq "$wanted" ] || { fail "exit code $code, wanted $wanted: $*"; sed 's/^/  stderr: /' err | head -5; }
}

# refuses CODE TEXT COMMAND...: exit code CODE, exactly one line on stderr that contains TEXT, and no new file.
refuses() {
  local wanted=$1 text=$2; shift 2
  local before after
  before=$(find . -not -name out -not -name err | sort)
  run "$wanted" "$@"
  [ "$(wc -l <err)" -eq 1 ] || { fail "not one line on stderr: $*"; sed 's/^/  stderr: /' err | head -5; }
  grep -qF -- "$text" err || fail "stderr does not say '$text' but '$(head -1 err)': $*"
  after=$(find . -not -name out -not -name err | sort)
  [ "$before" = "$after" ] || fail "left something behind: $* ($(comm -13 <(echo "$before") <(echo "$after") | tr '\n' ' '))"
}

has() { grep -qE -- "$2" "$1" || { fail "'$2' is not in $1"; sed 's/^/  /' "$1" | head -5; }; }
exists() { [ -e "$1" ] || fail "no file $1"; }
json() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); print($2)" "$1"; }
equal() { [ "$1" = "$2" ] || fail "$3: '$1', wanted '$2'"; }

finish() {
  [ "$failures" -eq 0 ] && { echo "1 passed, 0 failed"; exit 0; }
  echo "$failures checks failed"; exit 1
}

free_ports() { # free_ports COUNT
  python3 -c "import socket; s=[socket.socket() for _ in range($1)]; [x.bind(('127.0.0.1', 0)) for x in s]; print(*[x.getsockname()[1] for x in s])"
}
