"""usage: count_threads.py COMMAND... Runs it and prints how many threads it had at most."""
import re
import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
most = 0
while process.poll() is None:
    try:
        with open(f"/proc/{process.pid}/status") as status:
            found = re.search(r"^Threads:\s+(\d+)", status.read(), re.MULTILINE)
    except ProcessLookupError:
        break
    if found:
        most = max(most, int(found[1]))
print(most if process.wait() == 0 else f"exit code {process.returncode}")
