"""usage: interrupt.py SIGNAL DELAY_S COMMAND... Runs it, sends the signal DELAY_S after it waits for signals, prints its exit code."""
import glob
import os
import signal
import subprocess
import sys
import time


def waits_for_signals(pid):
    for path in glob.glob(f"/proc/{pid}/task/*/comm"):
        try:
            with open(path) as name:
                if name.read() == "signals\n":
                    return True
        except OSError:  # it has ended
            pass
    return False


def restore():  # a shell lets its background jobs ignore SIGINT
    for each in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)


process = subprocess.Popen(sys.argv[3:], preexec_fn=restore)
for _ in range(15000):  # on a machine that is busy a program starts in seconds
    if waits_for_signals(process.pid) or process.poll() is not None:
        break
    time.sleep(0.002)
time.sleep(float(sys.argv[2]))
os.kill(process.pid, getattr(signal, "SIG" + sys.argv[1]))
try:
    print(process.wait(timeout=60))
except subprocess.TimeoutExpired:
    process.kill()
    print("still runs after 60 s")
