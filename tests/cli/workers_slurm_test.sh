# Tuning on a Slurm cluster of four nodes on this machine, of which one is killed in the middle.
source "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin
for program in slurmctld slurmd munged mungekey; do
  command -v $program >/dev/null || { echo "SKIPPED: no $program"; exit 77; }
done
source "$here/fleet_lib.sh"

refuses 2 "is no number of nodes" tune --model=a.onnx --workers=slurm:0

# The cluster: each daemon with a port, a directory and a log of its own.
mkdir state logs
read -r controller one two three four < <(free_ports 5)
host=$(hostname -s)
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller
AuthType=auth/munge
AuthInfo=socket=$work/munge.sock
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool.%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.%n.pid
SlurmctldLogFile=$work/logs/slurmctld
SlurmdLogFile=$work/logs/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/linear
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdTimeout=10
SchedulerParameters=sched_interval=2
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$one CPUs=$(nproc) State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$two CPUs=$(nproc) State=UNKNOWN
NodeName=n3 NodeHostname=$host NodeAddr=127.0.0.1 Port=$three CPUs=$(nproc) State=UNKNOWN
NodeName=n4 NodeHostname=$host NodeAddr=127.0.0.1 Port=$four CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$work/slurm.conf
stop_cluster() {
  scancel --user="$(id -un)" 2>/dev/null
  local file pids=()
  for file in slurmd.*.pid slurmctld.pid munged.pid; do [ -e "$file" ] && pids+=("$(cat "$file")"); done
  kill "${pids[@]}"
  for _ in $(seq 100); do kill -0 "${pids[@]}" || break; sleep 0.1; done # they write into the directory until they end
} 2>/dev/null
trap 'stop_cluster; rm -rf "$work"' EXIT
mungekey --create --keyfile=munge.key &&
  munged --force --socket="$work/munge.sock" --key-file="$work/munge.key" --pid-file="$work/munged.pid" \
    --log-file="$work/logs/munged" --seed-file="$work/munge.seed" && slurmctld -f "$work/slurm.conf" ||
  { echo "SKIPPED: munged or slurmctld does not start here"; exit 77; }
for n in n1 n2 n3 n4; do slurmd -f "$work/slurm.conf" -N $n; done
for _ in $(seq 1200); do
  [ "$(sinfo --noheader --Node --states=idle --format=%N 2>/dev/null | wc -l)" -eq 4 ] && break
  read -rt 0.1 <> <(:)
done
equal "$(sinfo --noheader --Node --states=idle --format=%N | wc -l)" 4 "idle nodes"

# The job of one node ends with its slurmd, as at a power loss: neither says a word.
kill_node() { # NODE, by its name in the spool, which has the process
  local pid
  pid=$(sed -E 's/.*-([0-9]+)-[0-9]+$/\1/' <<<"$1")
  name=$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^SLURMD_NODENAME=//p')
  kill -9 "$(cat "slurmd.$name.pid")"
  kill -9 "$pid"
  echo "$name" >killed
}
when_at_work 'node-*' kill_node
run 0 tune --models=a.onnx,b.onnx,c.onnx --workers=slurm --slurm_args="--comment=test --time=60" --search_limit=3600 --output=oms --result=r.json --log=info
exists killed
has err 'job [0-9]+: an array of 4'
has err 'is lost: no sign of life .*measured elsewhere'
[ "$(grep -c ' has come: x86_64-' err)" -ge 3 ] || fail "fewer than three nodes came"
all_decided r.json
for _ in $(seq 100); do [ -z "$(squeue --noheader --states=PENDING,RUNNING)" ] && break; read -rt 0.1 <> <(:); done
equal "$(squeue --noheader --states=PENDING,RUNNING | wc -l)" 0 "jobs that are left"
finish
