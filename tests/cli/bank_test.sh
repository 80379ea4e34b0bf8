# The bank's directory when it may not be written, is not as it was left, or is not there.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --output=m.onnx >/dev/null || fail "make_model"
export TUNE_BANK_PATH=$work/bank ASCEND_WORK_PATH=$work/w
mkdir bank w
for _ in 1 2; do run 0 aoe_fill_bank m.onnx bank 2; done  # two snapshots
run 0 aoe_bank list --json
tasks=$(grep -c repo_key out)
[ "$tasks" -gt 0 ] || fail "the bank is empty"
bank=$(ls -d "$work"/bank/op/*)

# To another place and back, as one file.
run 0 aoe_bank export bank.zst
has out "^$tasks tasks, 0 measurements of $bank in bank.zst"
mkdir other
run 0 env TUNE_BANK_PATH=other aoe_bank import bank.zst
run 0 env TUNE_BANK_PATH=other aoe_bank list --json
equal "$(grep -c repo_key out)" "$tasks" "tasks in the imported bank"
cmp -s <(aoe_bank list --json) <(TUNE_BANK_PATH=other aoe_bank list --json) || fail "import lost something"
head -c 100 bank.zst >cut.zst
refuses 5 cut.zst aoe_bank import cut.zst
refuses 5 absent.zst aoe_bank import absent.zst
refuses 5 --soc_version aoe_bank import bank.zst --soc_version=x86_64-haswell-4t
refuses 2 "a file" aoe_bank import
refuses 6 /proc aoe_bank export /proc/x

# Several banks: equal ones do not differ; what one lacks is said, and merged.
mkdir third
run 0 env TUNE_BANK_PATH=third aoe_bank import bank.zst
run 0 aoe_bank diff other third
has out '^0 tasks differ'
key=$(TUNE_BANK_PATH=third aoe_bank list --json | python3 -c "import json,sys; print(json.load(sys.stdin)[0]['repo_key'])")
run 0 env TUNE_BANK_PATH=third aoe_bank rm "$key"
has out '^removed [1-9][0-9]* strategies and 0 measurements'
run 0 aoe_bank diff other third --format=json
equal "$(json out "[d[0]['repo_key'], d[0]['right']]")" "['$key', []]" "the difference"
run 0 aoe_bank merge third bank.zst -o merged
has out "^op/[^ ]+: $tasks tasks, 0 measurements, 0 conflicts"
run 0 aoe_bank diff other merged
has out '^0 tasks differ'
refuses 2 "not empty" aoe_bank merge third bank.zst -o merged
refuses 2 "--output" aoe_bank merge third bank.zst
refuses 5 "there is no bank" aoe_bank merge third absent -o other2
refuses 2 "no task has the repo_key 'nothing'" env TUNE_BANK_PATH=third aoe_bank rm nothing
refuses 2 "unknown command" aoe_bank forget
refuses 2 "yaml" aoe_bank list --format=yaml

# Backups, pruning, checking.
run 0 env TUNE_BANK_PATH=merged aoe_bank backup backups
run 0 env TUNE_BANK_PATH=merged aoe_bank prune --older_than=1
has out "^removed [1-9][0-9]* strategies"
run 0 env TUNE_BANK_PATH=merged aoe_bank list
has out '^0 tasks'
refuses 2 "no number of days" env TUNE_BANK_PATH=merged aoe_bank prune --older_than=soon
refuses 2 "--stale or --older_than" env TUNE_BANK_PATH=merged aoe_bank prune
run 0 env TUNE_BANK_PATH=merged aoe_bank restore backups
has out ": $tasks tasks"
run 0 env TUNE_BANK_PATH=merged aoe_bank compact
run 0 env TUNE_BANK_PATH=merged aoe_bank verify
has out 'no damage$'
run 0 env TUNE_BANK_PATH=merged aoe_bank stats --json
equal "$(json out "[d['tasks'], d['tasks_with_winner'], d['stale_strategies']]")" "[$tasks, $tasks, 0]" "statistics"
newest=$(ls -d "$work"/merged/op/*/snapshot-* | sort -V | tail -1)
: >"$newest/SEAL"
run 5 env TUNE_BANK_PATH=merged aoe_bank verify
has out '^damaged .*SEAL'
run 0 env TUNE_BANK_PATH=merged aoe_bank repair
has out '^moved aside'
run 0 env TUNE_BANK_PATH=merged aoe_bank verify
: >"$(ls -d "$work"/merged/op/*/snapshot-* | sort -V | tail -1)/SEAL"
run 0 env TUNE_BANK_PATH=merged aoe_bank verify --fix --json
equal "$(json out "[len(d['repaired']['moved_aside']), d['damage'], d['tasks']]")" "[1, [], $tasks]" "what --fix did"
for command in compact "prune --stale" "export again.zst" "import again.zst" "backup backups" "restore backups"; do
  run 0 env TUNE_BANK_PATH=merged aoe_bank $command --format=json
  json out "d['bank']" >/dev/null || fail "no JSON of $command"
done
run 0 env TUNE_BANK_PATH=merged aoe_bank list --json
equal "$(grep -c repo_key out)" "$tasks" "tasks in the repaired bank"

# A built-in bank, and what it was good for.
run 0 aoe_bank promote built_in
has out "^$tasks tasks, $tasks of them with a winner, in built_in/op/"
run 0 atc --model=m.onnx --output=explained
run 0 aoe_bank explain explained.om
has out ' bank +2\.000x$'
run 0 aoe_bank explain m.onnx --json
equal "$(json out "any(op['source'] == 'bank' and op['default_time_ns'] == 2000 for op in d['ops'])")" True "ops from the bank"
node=$(json out "next(op['node'] for op in d['ops'] if op['source'] == 'bank')")
run 0 aoe_bank explain explained.om "$node"
has out '^why +1\.00 us, its default 2\.00 us: faster'
refuses 2 "no node is called" aoe_bank explain explained.om nobody
# Names are whole, whatever their letters are.
PYTHONPATH=$here/.. python3 - <<'PY'
import onnx_writer as w
w.write("names.onnx", [w.node("Softmax", ["x"], ["y"], "Schichtgröße" * 5)], [w.value("x", 2, 3)], [w.value("y", 2, 3)])
PY
run 0 aoe_bank explain names.onnx
has out "^(Schichtgröße){5} +SoftmaxV2 "

# --bank needs no --soc_version: the bank of other hardware says whose it is.
cp -r "$bank" foreign
sed -i 's/"soc_version": "[^"]*"/"soc_version": "x86_64-haswell-4t"/' foreign/BANK
run 0 aoe_bank stats --bank=foreign --json
equal "$(json out "d['soc_version']")" x86_64-haswell-4t "soc_version that the bank states"

# atc says which bank it was.
mkdir -p product && cp -r "$here/../../configs" product/ && mkdir -p product/bank && cp -r bank/op product/bank/
run 0 env TUNE_BANK_PATH=$work/w AOE_CONFIG_DIR=$work/product/configs atc --model=m.onnx --output=m --log=info
has err "op bank $work/w/op/[^ ]+ \(from TUNE_BANK_PATH\): ([1-9][0-9]*) of [0-9]+ ops hit the bank, \\1 of them the built-in bank $work/product/bank/op/"

# Nothing under this soc_version, but under another: atc names it.
run 0 env TUNE_BANK_PATH=$work/bank atc --model=m.onnx --output=m --threads=1
has err 'there is no op bank of soc_version [^ ]+-1t in .*/bank/op; the nearest that has one is [^ ]+-2t$'
run 0 atc --model=m.onnx --output=m
equal "$(cat err)" "" "words about a bank that is there"

# Another size of the same network: no task is known, but near ones are.
make_model squeezenet --small --image=192 --output=wide.onnx >/dev/null || fail "make_model"
run 0 atc --model=wide.onnx --output=wide
run 0 atc --mode=6 --om=wide.om
grep -q 'strategy\[near' out && fail "neighbours were taken without being asked for"
run 0 atc --model=wide.onnx --output=wide --op_bank_near=on
near=$(sed -nE 's/.* ([1-9][0-9]*) ops take what won for the nearest shape.*/\1/p' err)
equal "$(wc -l <err)" 1 "lines about neighbours"
run 0 atc --mode=6 --om=wide.om
equal "$(grep -c 'strategy\[near, of [0-9]*\]' out)" "$near" "ops that take what won for another shape"
refuses 2 "on or off" atc --model=m.onnx --output=m --op_bank_near=perhaps
refuses 2 "--job_type=2" aoe --framework=5 --model=m.onnx --job_type=1 --op_bank_near=on

# Measured again: that the plain reference beats the default is claimed, and not found.
mkdir slow
run 0 aoe_fill_bank m.onnx slow 2 reference
run 8 env TUNE_BANK_PATH=slow aoe_bank verify --remeasure=2 --json
equal "$(json out "[(each['claimed_gain'], each['finding']) for each in d['remeasured']]")" \
  "[(2.0, 'lost'), (2.0, 'lost')]" "claims that do not hold"
run 8 env TUNE_BANK_PATH=slow aoe_bank verify --remeasure=1 --seed=2
has out '^lost +[0-9]+ .* reference +claimed 2\.000x, found 0\.[0-9]+x \(0\.[0-9]+ to 0\.[0-9]+\)$'
run 0 env TUNE_BANK_PATH=slow aoe_bank stats --json
before=$(json out "d['tasks']")
run 0 env TUNE_BANK_PATH=slow aoe_bank verify --remeasure=2 --fix
has out '^removed 2 strategies that do not hold'
run 0 env TUNE_BANK_PATH=slow aoe_bank stats --json
equal "$(json out "d['tasks']")" "$((before - 2))" "tasks after --fix"
run 0 aoe_bank verify --remeasure=2 --threads=1 --bank="$bank" --soc_version=auto
has out '^not measured +the bank is of [^ ]+-2t, this machine is [^ ]+-1t'
refuses 2 "--job_type=1 does so" aoe_bank verify --remeasure=2 --job_type=1 --bank="$bank"
refuses 2 "for instance 20" aoe_bank verify --remeasure=0

# Reading needs no permission to write.
as_reader="env"
mkdir -m 777 readers
if [ "$(id -u)" -eq 0 ]; then
  # A tree below /root is nobody else's to read; programs there run, as setpriv may still look at them.
  cp -r "$here/../../configs" configs
  chmod -R a+rX configs
  as_reader="env AOE_CONFIG_DIR=$work/configs setpriv --reuid=65534 --regid=65534 --clear-groups"
  chmod 755 "$work"
  # Presets that one may not look at are said, and not taken for none.
  mkdir -m 700 secret
  refuses 2 'may not read the presets' ${as_reader/$work\/configs/$work/secret} \
    aoe --framework=5 --model=m.onnx --job_type=2 --progress_bar=off
fi
chmod -R a-w,a+rX bank
run 0 $as_reader aoe_bank list --json
equal "$(grep -c repo_key out)" "$tasks" "tasks in a bank that may not be written"
run 0 $as_reader atc --model=m.onnx --output=readers/m --log=info
has err ': [1-9][0-9]* of [0-9]+ ops hit the bank'
# Tuning finds out before it begins.
ASCEND_WORK_PATH=$work/readers refuses 5 TUNE_BANK_PATH $as_reader \
  aoe --framework=5 --model=m.onnx --job_type=2 --progress_bar=off
chmod u+w bank  # the root alone
[ "$(id -u)" -eq 0 ] && chmod 777 bank
ASCEND_WORK_PATH=$work/readers run 5 $as_reader \
  aoe --framework=5 --model=m.onnx --job_type=2 --progress_bar=off
equal "$(wc -l <err)" 1 "lines about a bank that may not be written"
[ -z "$(ls readers/aoe_result* 2>/dev/null)" ] || fail "tuning began"
chmod -R u+w bank

# A damaged snapshot: the one before it, and a word about it.
newest=$(ls -d "$bank"/snapshot-* | sort -t- -k2 -V | tail -1)
cp "$newest/SEAL" seal
: >"$newest/SEAL"
run 0 aoe_bank list
has err 'SEAL.*fell back to the newest whole snapshot'
run 0 atc --model=m.onnx --output=m
has err 'fell back'
cp seal "$newest/SEAL"
run 0 aoe_bank list
equal "$(cat err)" "" "words about a whole bank"

# What is no bank, or no snapshot.
mkdir "$bank/snapshot-x"
refuses 5 "'snapshot-x' is no name of a snapshot" aoe_bank list
refuses 5 snapshot-x atc --model=m.onnx --output=n
rmdir "$bank/snapshot-x"
cp "$bank/BANK" marker
for content in '' '{"kind":["aoe knowledge bank"]}' '{"kind":"aoe knowledge bank","layout":"two"}'; do
  echo "$content" >"$bank/BANK"
  refuses 5 BANK aoe_bank list
  refuses 5 BANK atc --model=m.onnx --output=n
done
cp marker "$bank/BANK"
mkdir gone && mv "$bank"/snapshot-* gone
refuses 5 "its snapshots are gone" aoe_bank list
refuses 5 "its snapshots are gone" aoe --framework=5 --model=m.onnx --job_type=2
mv gone/* "$bank"
refuses 5 absent aoe_bank list --bank=absent
run 0 aoe_bank list
finish
