# Tuning on two hosts over a real sshd on loopback, of which one is killed in the middle; on hosts of two kinds; and subgraphs.
source "$(dirname "$0")/lib.sh"
source "$here/sshd_lib.sh"
source "$here/fleet_lib.sh"

refuses 2 "names no host" tune --model=a.onnx --workers=ssh:
refuses 2 "is no host" tune --model=a.onnx --workers=ssh:-oProxyCommand=x
refuses 2 "is neither ssh nor slurm" tune --model=a.onnx --workers=pvm:a
refuses 2 "is for --workers=slurm" tune --model=a.onnx --workers=ssh:a --slurm_args=-p
refuses 2 "is for --workers=slurm" tune --model=a.onnx --slurm_args=-p
refuses 2 "there is no such spool" aoe serve_tasks --spool=nowhere

# A client that knows the server by several names.
start_sshd -o PasswordAuthentication=no -o PermitRootLogin=prohibit-password -o AcceptEnv=OMP_NUM_THREADS
cat >ssh_config <<END
Host *
  HostName 127.0.0.1
  Port $port
  IdentityFile $work/user_key
  IdentitiesOnly yes
  UserKnownHostsFile $work/known_hosts
  User $(id -un)
Host alpha beta
  SetEnv OMP_NUM_THREADS=2
Host narrow
  SetEnv OMP_NUM_THREADS=1
END
for host in 127.0.0.1 alpha beta narrow; do echo "[$host]:$port $(cut -d' ' -f1,2 host_key.pub)"; done >known_hosts
mkdir wrapped
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$work/ssh_config" >wrapped/ssh
chmod +x wrapped/ssh
export PATH=$work/wrapped:$PATH

# A host that cannot be reached is said; without any there is nothing to do.
run 1 tune --model=a.onnx --workers=ssh:nobody@alpha --progress_bar=off
has err 'no node is left: nobody@alpha: exit status 255'

# Two hosts; beta is killed, with no time for a word, while it searches.
kill_node() { pgrep -f -- "--spool=.*$work.* --node=$1\$" | xargs kill -9; }
when_at_work 'beta-*' kill_node
run 0 tune --models=a.onnx,b.onnx,c.onnx --workers=ssh:alpha,beta --search_limit=3600 --output=oms --result=r.json
has err 'node beta-1 is lost: .*measured elsewhere'
has err '^model b \(2 of 3\)$'
all_decided r.json
soc=$(json r.json "d['results'][0]['soc_version']")
[ -z "$(pgrep -f -- "--spool=.*$work")" ] || fail "a node is still there"

# Two kinds: each is tuned on nodes of its own, for a bank of its own.
rm -rf oms/*
run 0 tune --model=a.onnx --workers=ssh:alpha,narrow --search_limit=3600 --output=oms/a --result=kinds.json
equal "$(json kinds.json "sorted(r['threads'] for r in d['results'])")" "[1, 2]" "kinds"
one=${soc%-2t}-1t
equal "$(ls oms | tr '\n' ' ')" "a_$one.om a_$soc.om " "an om for each"
exists "bank/op/$one/BANK"

# Subgraphs of two models: their variants race on the nodes.
mkdir subgraphs
make_model squeezenet --small --image=48 --output=d.onnx >/dev/null || fail "make_model"
run 0 aoe --framework=5 --job_type=1 --preset="$brief" --models=a.onnx,d.onnx --workers=ssh:alpha,beta --search_limit=3600 --output=subgraphs \
  --result=subgraphs.json --log=info --progress_bar=off
has err 'answers=[1-9][0-9]* repeated=0 lost_nodes=0'
equal "$(json subgraphs.json "{(r['job_type'], r['state'], r['tasks']['not_searched']) for r in d['results']}")" \
  "{(1, 'tuning successful', 0)}" "subgraphs"
equal "$(json subgraphs.json "all(r['budget']['trials'] > 0 for r in d['results'])")" True "variants that were measured"
exists "bank/graph/$soc/BANK"
run 0 aoe_run --model=subgraphs/a.om
run 0 aoe_run --model=subgraphs/d.om
finish
