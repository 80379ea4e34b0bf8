"""usage: interrupt.py SIGNAL DELAY_S|FILE COMMAND... Runs it, sends the signal DELAY_S after it waits for signals, or once there is a file
of that pattern; prints its exit code."""
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


def wait_for(holds):
    for _ in range(60000):  # on a machine that is busy a program starts in seconds
        if holds() or process.poll() is not None:
            break
        time.sleep(0.002)


process = subprocess.Popen(sys.argv[3:], preexec_fn=restore)
wait_for(lambda: waits_for_signals(process.pid))
try:
    time.sleep(float(sys.argv[2]))
except ValueError:
    wait_for(lambda: glob.glob(sys.argv[2]))
os.kill(process.pid, getattr(signal, "SIG" + sys.argv[1]))
try:
    print(process.wait(timeout=60))
except subprocess.TimeoutExpired:
    process.kill()
    print("still runs after 60 s")
