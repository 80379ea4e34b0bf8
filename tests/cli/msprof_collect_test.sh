# msprof collect against a real sshd on loopback: by key, by nothing less, and nothing left on the board.
source "$(dirname "$0")/lib.sh"
source "$here/sshd_lib.sh"
user=$(id -un)
ssh-keygen -q -t ed25519 -N '' -f strange_key
mkdir board
printf '%s\n' 'PermitUserEnvironment no' "SetEnv PATH=$PATH TMPDIR=$work/board" 'Subsystem sftp internal-sftp' >>sshd_config
start_sshd -o PasswordAuthentication=no -o PermitRootLogin=prohibit-password
echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 host_key.pub)" >known_hosts

ini() {  # ini FILE KEY [LINE...]
  local file=$1 key=$2; shift 2
  printf '[ssh_config]\nip = 127.0.0.1\nusername = %s\nport = %s\nkey_file = %s\nknown_hosts = %s\n' \
    "$user" "$port" "$work/$key" "$work/known_hosts" >"$file"
  printf '%s\n' "$@" >>"$file"
  chmod 600 "$file"
}
ini ssh.ini user_key

# The project: a program, its model, an acl.json of its own, a directory.
mkdir -p project/config
make_model squeezenet --small --image=64 --output=m.onnx >/dev/null || fail "make_model"
run 0 atc --framework=5 --model=m.onnx --output=project/m --threads=1
printf '#!/bin/sh\necho "here is $(basename "$PWD")"; cat config/acl.json\nexec aoe_run --model=m.om --repeat=9\n' >project/main
chmod +x project/main
echo '{"dump": {"dump_mode": "output"}}' >project/config/acl.json

boards_leftovers() { ls board; }

run 0 msprof collect -m project/main --config ssh.ini --interval=2 --acl_api=off --output=jobs --all
has out 'here is project'
has out '"dump_mode": "output"'       # what else acl.json holds stays
has out '"interval": "2"'
has out '^latency_ms .* repeat=9$'
has out '^\[INFO\] main ended with exit status 0\.'
job=$(echo jobs/JOB*)
exists "$job/info.json.0"
exists "$job/data/AAcore.task.slice_0"
[ ! -e "$job/data/AclModule.api_event.slice_0" ] || fail "API events in spite of --acl_api=off"
ls "$job"/sqlite/*.db >/dev/null || fail "--all did not import"
ls "$job"/timeline/task_time_*.json >/dev/null || fail "--all did not export the timeline"
ls "$job"/summary/op_summary_*.csv >/dev/null || fail "--all did not export the summary"
equal "$(boards_leftovers)" "" "left on the board"

# How msprof signs in is not copied, whatever the file is called.
ini project/ssh.ini user_key
ini project/config/board.ini user_key
printf '#!/bin/sh\necho "there is: $(find . -name "*.ini" -o -name m.om | sort | tr "\\n" " ")"\n' >project/main
run 0 msprof collect -m project/main --config project/config/board.ini --switch=off
has out '^there is: \./m\.om $'
rm project/ssh.ini project/config/board.ini

# Ctrl-C, and a signal: program and files go from the board, what was collected comes back.
printf '#!/bin/sh\naoe_run --model=m.om --repeat=9 >/dev/null\nsleep 1000 &\necho "group $$"\nwait\n' >project/main
for signal in INT TERM; do
  rm -f out  # or the line of the program before is found
  python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' \
    msprof collect -m project/main --config ssh.ini --output=stopped_$signal >out 2>err &
  pid=$!
  for _ in $(seq 3000); do
    grep -q '^group' out && break
    kill -0 $pid 2>/dev/null || break
    sleep 0.1
  done
  group=$(sed -n 's/^group //p' out)
  [ -n "$(pgrep -g "${group:-0}" sleep)" ] || fail "the program does not run on the board before SIG$signal"
  kill -$signal $pid
  wait $pid
  equal "$?" 130 "exit code after SIG$signal"
  equal "$(pgrep -g "${group:-1}")" "" "processes left on the board after SIG$signal"
  equal "$(boards_leftovers)" "" "left on the board after SIG$signal"
  exists "$(echo stopped_$signal/JOB*)/info.json.0"
done
printf '#!/bin/sh\nexec aoe_run --model=m.om --repeat=9\n' >project/main

# Switched off: it runs, and there is nothing to bring back.
run 0 msprof collect -m project/main --config ssh.ini --switch=off --output=off
[ ! -e off ] || fail "collected in spite of --switch=off"

# The program's failure is ours, and it is said.
printf '#!/bin/sh\naoe_run --model=m.om >/dev/null\nexit 9\n' >project/main
run 9 msprof collect -m project/main --config ssh.ini --output=failed
has out 'main ended with exit status 9\.'
exists "$(echo failed/JOB*)/info.json.0"

# What was only collected, shown: it is imported, and its timeline written.
job=$(echo failed/JOB*)
run 0 msprof show -dir "$job"
has out 'Acl statistic'
for made in sqlite/profile.db log/import.log; do exists "$job/$made"; done
ls "$job"/timeline/acl_*.json >/dev/null || fail "show did not write the timeline"

# Who is not let in; a password is never printed.
ini strange.ini strange_key
refuses 1 "no key was accepted" msprof collect -m project/main --config strange.ini --output=none
ini password.ini strange_key 'pwd = sesame-42'
refuses 1 "neither a key nor the password was accepted" msprof collect -m project/main --config password.ini --output=none
! grep -q sesame-42 out err || fail "the password was printed"

# A password that is right, when no key is. The user and its password exist for this server alone: libnss_wrapper shows it our
# files instead of /etc/passwd and /etc/shadow.
wrapper=$(ls /usr/lib/*/libnss_wrapper.so 2>/dev/null)
if [ -n "$wrapper" ]; then
  kill $sshd_pid
  wait $sshd_pid 2>/dev/null
  echo "board:x:$(id -u):$(id -g)::$HOME:/bin/sh" >passwd
  echo "sshd:x:65534:65534::/run/sshd:/usr/sbin/nologin" >>passwd
  # sha512-crypt of open-sesame
  echo 'board:$6$aoetest$eG9jdhaJ4JZCD4ExJo.TgHWjvqebsSHQGaxzUhj8ME4OriZXY4JbRrYB8Z/cXRjkyEfZE3bqnoSjhQB9q9rXF0:19000:0:99999:7:::' >shadow
  echo "board:x:$(id -g):" >group
  start_sshd LD_PRELOAD="$wrapper" NSS_WRAPPER_PASSWD="$work/passwd" NSS_WRAPPER_SHADOW="$work/shadow" \
    NSS_WRAPPER_GROUP="$work/group" -o PasswordAuthentication=yes -o PermitRootLogin=yes
  ini board.ini strange_key 'pwd = open-sesame'
  sed -i 's/^username = .*/username = board/' board.ini
  run 9 msprof collect -m project/main --config board.ini --output=by_password
  has out 'main ended with exit status 9\.'
  exists "$(echo by_password/JOB*)/info.json.0"
  ! grep -q open-sesame out err || fail "the password was printed"
  sed -i 's/^pwd = .*/pwd = close-sesame/' board.ini
  refuses 1 "neither a key nor the password was accepted" msprof collect -m project/main --config board.ini --output=none
else
  echo "not tested: a password that is right (libnss-wrapper is not installed)"
fi

# A server that ends the connection is not one that knows no key.
kill $sshd_pid
wait $sshd_pid 2>/dev/null
start_sshd -o MaxAuthTries=1
refuses 1 "the sign-in was broken off: " msprof collect -m project/main --config strange.ini --output=none

# A host that is not known, and one that is another than it was.
cp known_hosts known_hosts.right
: >known_hosts
refuses 1 "not in known_hosts" msprof collect -m project/main --config ssh.ini --output=none
echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 strange_key.pub)" >known_hosts
refuses 1 "is not the one in known_hosts" msprof collect -m project/main --config ssh.ini --output=none
cp known_hosts.right known_hosts

# The config file.
chmod 640 ssh.ini
refuses 2 "others than its owner may use this file" msprof collect -m project/main --config ssh.ini
chmod 600 ssh.ini
ini unknown.ini user_key 'passwd = sesame-42'
refuses 2 "unrecognised option" msprof collect -m project/main --config unknown.ini
! grep -q sesame-42 out err || fail "a value of the config was printed"
ini port.ini user_key 'port = sesame-42'
refuses 2 "" msprof collect -m project/main --config port.ini
! grep -q sesame-42 out err || fail "a value of the config was printed"
refuses 2 "cannot be read" msprof collect -m project/main --config missing.ini
refuses 2 "there is no such program" msprof collect -m project/missing --config ssh.ini
refuses 2 "interval" msprof collect -m project/main --config ssh.ini --interval=-3
finish
