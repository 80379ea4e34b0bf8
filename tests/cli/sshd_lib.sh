# A server of our own: port, host key, user key, all in the test's directory, and `start_sshd`. It runs as we do and knows us alone.
# Sourced behind lib.sh; skips the test where there is no sshd.
sshd=$(command -v sshd || echo /usr/sbin/sshd)
[ -x "$sshd" ] || { echo "SKIPPED: no sshd"; exit 77; }
port=$(free_ports 1)
ssh-keygen -q -t ed25519 -N '' -f host_key
ssh-keygen -q -t ed25519 -N '' -f user_key
cp user_key.pub authorized_keys
chmod 700 . && chmod 600 authorized_keys
cat >sshd_config <<END
Port $port
ListenAddress 127.0.0.1
HostKey $work/host_key
PidFile $work/sshd.pid
AuthorizedKeysFile $work/authorized_keys
StrictModes no
KbdInteractiveAuthentication no
UsePAM no
END
[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
sshd_pid=
trap 'kill $sshd_pid 2>/dev/null; rm -rf "$work"' EXIT

start_sshd() {  # start_sshd [NAME=VALUE...] [-o OPTION...]: environment and options of the server
  local variables=()
  while [[ ${1-} == *=* ]]; do variables+=("$1"); shift; done
  : >sshd.log
  env "${variables[@]}" "$sshd" -f sshd_config "$@" -D -e 2>sshd.log &
  sshd_pid=$!
  for _ in $(seq 1000); do
    grep -q 'listening' sshd.log && return
    kill -0 $sshd_pid 2>/dev/null || { cat sshd.log; fail "sshd did not start"; finish; }
    read -rt 0.1 <> <(:)  # waits for the server's log, which is all that tells
  done
}
