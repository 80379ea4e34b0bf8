# msprof around a program: its directory, its exit status, what it says; acl.json and kill -9 are tested below the tools.
source "$(dirname "$0")/lib.sh"

make_model squeezenet --small --image=64 --output=m.onnx >/dev/null || fail "make_model"
run 0 atc --framework=5 --model=m.onnx --output=m --threads=1

# The preferred form: files, screen lines.
run 0 msprof --output=prof --runtime-api=on --host-sys-usage=cpu,mem aoe_run --model=m.om --repeat=5
cp out said
has said '^latency_ms .* repeat=5$'
for line in 'Start profiling\.\.\.\.' 'aoe_run ended with exit status 0\.' 'Start parse data in .*/PROF_' 'Query all data in .* done\.' \
    'Start export data in .*/PROF_' 'Export all data in .* done\.' 'Process profiling data complete\. Data is saved in .*/PROF_'; do
  has said "^\[INFO\] $line"
done
equal "$(ls prof | wc -l)" 1 "directories"
dir=$(echo prof/PROF_000001_*)
for file in host/info.json host/sample.json host/start_info host/end_info host/host_start.log device_0/info.json.0 \
    host/data/aging.system.slice_0 device_0/data/aging.task.slice_0 device_0/data/unaging.models.slice_0; do
  exists "$dir/$file"
done
equal "$(json "$dir/host/sample.json" "d['runtime_api']")" True "runtime_api in sample.json"
ls "$dir"/mindstudio_profiler_output/msprof_*.json >/dev/null || fail "no timeline"
op_summary=$(ls "$dir"/mindstudio_profiler_output/op_summary_*.csv) || fail "no op_summary"
# Six executions (one does not count for aoe_run), each with all ops of the model.
ops=$(($(wc -l <"$op_summary") - 1))
[ "$ops" -gt 0 ] && [ $((ops % 6)) -eq 0 ] || fail "$ops ops in 6 executions"

# The other form, with a variable; without export; l0.
printf '[ "$X" = "a b" ] && [ "$1" = "c d" ] && exec aoe_run --model=m.om\n' >app.sh
run 0 msprof --output=quiet --export=off --task-time=l0 --environment="OMP_NUM_THREADS=1;X=a b" --application="sh app.sh 'c d'"
exists "$(echo quiet/PROF_*)/host/end_info"
[ ! -e "$(echo quiet/PROF_*)/mindstudio_profiler_output" ] || fail "exported with --export=off"
equal "$(json "$(echo quiet/PROF_*)/host/sample.json" "d['task_time']")" l0 "task_time"

# The program's exit status is kept, and said; so is its end by a signal.
run 5 msprof --output=p5 --export=off sh -c 'aoe_run --model=m.om >/dev/null; exit 5'
has out '^\[INFO\] sh ended with exit status 5\.'
run 143 msprof --output=p15 --export=off sh -c 'aoe_run --model=m.om >/dev/null; kill -TERM $$'
has out 'ended by signal 15'

# A program that runs already, begun and ended twice; refused: a second beginning, an end of nothing.
PROFILING_MODE=dynamic aoe_run --model=m.om --seconds=600 >/dev/null 2>&1 &
app=$!
printf 'stop\nstart\nstart\nstop\nstrat\nstart\nquit\n' >commands
run 0 msprof --output=dynamic --dynamic=on --pid=$app <commands
has err 'no collection runs'
has err 'a collection runs already'
has err "'strat' is no command"
equal "$(grep -c 'Process profiling data complete' out)" 2 "collections"
kill $app 2>/dev/null
wait $app 2>/dev/null
equal "$(ls -d dynamic/PROF_*_* | wc -l)" 2 "directories of a dynamic collection"
for dir in dynamic/PROF_*; do
  exists "$dir/host/end_info"
  exists "$(echo "$dir"/msprof_*.db)"
done

# Two programs in one: two directories.
run 0 msprof --output=two --export=off sh -c 'aoe_run --model=m.om && aoe_run --model=m.om'
equal "$(ls -d two/PROF_*_* | wc -l)" 2 "directories of two programs"

# Flags of hardware that is not there: one warning.
run 0 msprof --output=warned --export=off --l2=on --dvpp-profiling=on --hccl=off aoe_run --model=m.om
equal "$(wc -l <err)" 1 "lines on stderr"
has err 'without effect on this hardware: --l2, --dvpp-profiling$'

# Marks of the program are wanted: no warning.
run 0 msprof --output=marked --export=off --msproftx=on aoe_run --model=m.om
equal "$(wc -l <err)" 0 "lines on stderr"
has "$(echo marked/PROF_*)/host/sample.json" '"msproftx": true'
refuses 2 "use on, off" msprof --msproftx=maybe aoe_run

# The machine alone, without a program.
run 0 msprof --output=machine --export=off --sys-period=0.2 --sys-profiling=on --host-sys-pid=$$ --sys-pid-profiling=on
exists "$(echo machine/PROF_*)/host/data/aging.system.slice_0"

# A disk that is full (when we may make one): one message, and the program does not suffer.
if mkdir tiny && mount -t tmpfs -o size=1m tmpfs tiny 2>/dev/null; then
  run 0 msprof --output=tiny --export=off aoe_run --model=m.om
  equal "$(grep -c 'profiling has stopped' err)" 1 "messages of the full disk"
  has out '^latency_ms '
  # Without --export=off there is nothing to export, for which the disk is to blame.
  rm -rf tiny/*
  run 6 msprof --output=tiny aoe_run --model=m.om
  has err '^msprof: error: .*: less than 20 MB are left on the disk; choose a place'
  # Full from the beginning, the program does not run; full when it begins to collect, that is said, and not that it did not.
  fill() { dd if=/dev/zero of=tiny/fill bs=64k 2>/dev/null; }
  rm -rf tiny/*; fill
  refuses 6 "No space left on device" msprof --output=tiny touch ran
  rm tiny/fill; export -f fill
  run 6 msprof --output=tiny bash -c 'fill; aoe_run --model=m.om'
  has err '^msprof: error: nothing was collected; .*No space left on device'
  ! grep -q aclInit err || fail 'said that the program did not call aclInit'
  equal "$(ls tiny)" fill "left on the full disk"
  # No room for the first files either, of which none stays.
  rm -rf tiny/*; mount -o remount,size=16k tiny
  run 6 msprof --output=tiny aoe_run --model=m.om
  has err '^msprof: error: nothing was collected; .*less than 20 MB are left on the disk'
  umount tiny
fi

# A limit of file sizes is as a full disk, and ends no program by a signal.
run 6 bash -c 'ulimit -f 64; exec msprof --output=limited aoe_run --model=m.om'
has err 'cannot be written|disk|full|[Tt]oo large'

mkdir none
refuses 1 "nothing was collected" msprof --output=none true
refuses 2 "no program to collect" msprof --output=none
refuses 2 "cannot be run: No such file" msprof --output=none ./missing
refuses 2 "did you mean --task-time?" msprof --task-tiem=on aoe_run
refuses 2 "is no group of metrics" msprof --aic-metrics=Everything aoe_run
refuses 2 "use 200MB" msprof --storage-limit=20MB aoe_run
refuses 2 "not allowed" msprof '--output=a;b' aoe_run
refuses 2 "use 1 to 50" msprof --host-sys-usage-freq=51 aoe_run
run 2 msprof --output=both --export=off aoe_run --model=m.om --profile
has err "aoe_run: error: --profile: msprof collects already"
refuses 2 "name it by --pid" msprof --output=none --dynamic=on aoe_run --model=m.om
refuses 2 "without --dynamic" msprof --output=none --pid=1 aoe_run --model=m.om
refuses 1 "takes no commands" msprof --output=none --dynamic=on --pid=$app
touch file
refuses 6 "file" msprof --output=file/x aoe_run --model=m.om
finish
