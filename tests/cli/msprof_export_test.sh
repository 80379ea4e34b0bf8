# msprof on collected data: every sub-command, both generations' directories, and what it refuses.
source "$(dirname "$0")/lib.sh"
checker=$here/../../scripts/check_timeline

make_model mlp-training --small --batch=4 --output=mlp.onnx >/dev/null || fail "make_model"
run 0 atc --framework=5 --model=mlp.onnx --output=mlp --threads=1

# Collected, parsed and exported in one command.
run 0 msprof --output=prof --runtime-api=on aoe_run --model=mlp.om --repeat=20
has out 'Computation: No Strategy In Bank'  # the advice, printed
has out 'Start parse data in .*/prof/PROF_000001_'
has out 'Export all data in .* done\.'
dir=$(echo prof/PROF_*)
files=$dir/mindstudio_profiler_output
for file in msprof_2*.json step_trace_2*.json {op_summary,op_statistic,api_statistic,task_time,step_trace}_2*.csv; do
  exists "$(echo "$files"/$file)"
done
# What older releases have in files of their own.
for file in {ai_stack_time,thread_group,task_time,runtime_api,ge,ge_op_execute}_2*.json \
  {ai_stack_time,runtime_api,ge_op_execute}_2*.csv; do
  exists "$(echo "$files"/$file)"
done
for timeline in "$files"/*_2*.json; do
  python3 "$checker" "$timeline" >checked || fail "$timeline: $(cat checked)"
done
exists "$files/prof_rule_0.json"
exists "$(echo "$dir"/msprof_*.db)"
python3 "$checker" "$files"/msprof_*.json "$files"/op_summary_*.csv >checked || fail "$(cat checked)"

# Every level of calls that one CPU has: a call, the execution in it, the launch of each op in that one.
for row in 'host,acl,aclmdlExecute' 'host,acl,aclmdlUnload' 'host,model,ModelLoad' 'host,model,ModelExecute' 'host,node,launch'; do
  has "$(echo "$files"/api_statistic_*.csv)" "^$row,"
done

# Whatever was allocated is released at the program's end.
grep -q 'N/A' "$(echo "$files"/operator_memory_*.csv)" && fail "operator_memory: not released"

# A training graph has its points, found by data flow.
python3 - "$files"/step_trace_*.csv <<'END' || fail "step_trace"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) >= 20, len(rows)
for number, row in enumerate(rows):
    fp, bp, end = (float(row[c]) for c in ("FP Start(us)", "BP End(us)", "Iteration End(us)"))
    assert fp < bp <= end, row
    assert (row["Data Aug Bound(us)"] == "N/A") == (number == 0), row
END

# One iteration has names of its own: what is there of all stays as it is.
all=$(cd "$files" && sha256sum *_2*.{json,csv} prof_rule_0.json)
run 0 msprof --export=on --output=prof --summary-format=json --model-id=1 --iteration-id=2
equal "$(json "$files"/op_summary_0_1_2.json '{row["Infer ID"] for row in d}')" "{2}" "one iteration"
exists "$files/msprof_0_1_2.json"
exists "$files/step_trace_0_1_2.json"          # the timeline
exists "$files/step_trace_summary_0_1_2.json"  # and the summary
(cd "$files" && sha256sum --quiet -c <<<"$all") || fail "an export of one iteration changed that of all"

# No room for a table: its name is said, not that of what was to become it. What was whole before stays.
run 6 bash -c "ulimit -f 1; trap '' XFSZ; exec msprof export summary -dir '$dir' --model-id=1 --iteration-id=3"
has err '\.(csv|json): cannot be written: File too large; choose a writable place'
equal "$(find "$files" -name '*.tmp*')" "" "left of tables"

rm -r "$files"
echo '{"op_summary": false, "timeline": false}' >reports.json
run 0 msprof --export=on --output="$dir" --reports=reports.json
[ -z "$(ls "$files"/op_summary* "$files"/msprof* 2>/dev/null)" ] || fail "--reports did not leave out"
exists "$(echo "$files"/op_statistic_*.csv)"
echo '{"cann": false, "overlap_analysis": false}' >reports.json
run 0 msprof --export=on --output="$dir" --reports=reports.json
equal "$(json "$(echo "$files"/msprof_*.json)" 'sorted({e["args"]["name"] for e in d if e["name"] == "process_name"})')" \
  "['Ascend Hardware', 'NPU MEM']" "layers of the timeline"
echo '{"canns": false}' >reports.json
refuses 2 "'canns' is no report" msprof --export=on --output="$dir" --reports=reports.json

exists "$dir/mindstudio_profiler_log/import.log"

run 0 msprof --query=on --output=prof
has out 'Top Time Iteration'
has out 'PROF_000001'
# A point that is given: the second layer begins later than the first.
fp_start() { python3 -c "import csv, sys; print(next(csv.DictReader(open(sys.argv[1])))['FP Start(us)'])" "$files"/step_trace_*.csv; }
found=$(fp_start)
rm "$files"/step_trace_*
run 0 msprof --parse=on --output=prof --fp_point=/fc2/MatMul
run 0 msprof export summary -dir "$dir"
given=$(fp_start)
python3 -c "import sys; sys.exit(not float('$given') > float('$found'))" || fail "--fp_point: $given is not behind $found"
run 0 msprof --analyze=on --rule=communication --output=prof
has out 'one device'
run 0 msprof show "$dir"
for table in 'Core metrics' 'Op statistic' 'Acl statistic' 'Frequency'; do has out "$table"; done
grep -q "$(printf '\033')" out && fail "colours where nobody looks"
run 0 msprof advise "$dir"
cp out alone; run 0 msprof advise -dir "$dir"; cmp -s out alone || fail "-dir and the word alone differ"
has out 'No Strategy In Bank'
has out 'aoe --framework=5 --model=mlp.onnx --job_type=2'

# A damaged directory: what is whole is exported, what is lost is said.
slice=$(echo "$dir"/device_0/data/*.slice_0 | cut -d' ' -f1)
truncate -s -10 "$slice"
run 0 msprof --parse=on --output=prof
has err 'warning: .*slice_0'
has "$dir/mindstudio_profiler_log/import.log" 'slice_0: .* lost: '

refuses 2 "'banana' is not known" msprof --output=x --ge-api=banana true
refuses 2 "'yes' is not known" msprof --output=x --model-execution=yes true
refuses 2 "'1' is not known" msprof --output=x --sys-devices=1 true
refuses 2 "'1000' is no number in range" msprof --output=x --aic-freq=1000 true
refuses 2 "'on' is not known" msprof --output=x --llc-profiling=on true
refuses 2 'given together' msprof --export=on --output=prof --model-id=1
refuses 2 'allows only --output' msprof --export=on --output=prof --type=db --reports=reports.json
refuses 2 'has no iteration 999' msprof --export=on --output=prof --model-id=1 --iteration-id=999
refuses 2 'neither csv nor json' msprof export summary -dir "$dir" --format=xml
run 0 msprof export summary "$dir"
run 0 msprof query "$dir"
refuses 2 "'more' is not a flag" msprof show "$dir" more
refuses 2 'say timeline, summary or db' msprof export -dir "$dir"
refuses 7 'nowhere' msprof import -dir nowhere
mkdir empty
refuses 7 'holds no profiling data' msprof --export=on --output=empty
finish
