"""The program msprof, which imports and exports raw data."""

import subprocess

from .. import programs


def find():
    return programs.find("msprof")


def export(prof_directory, log_file):
    """Imports `prof_directory` and writes its mindstudio_profiler_output; what msprof says goes to
    `log_file`."""
    command = [str(find()), "--export=on", f"--output={prof_directory}"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    with open(log_file, "a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}")
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise RuntimeError(
            f"msprof failed with exit code {done.returncode} on {prof_directory}:"
            f" {lines[-1] if lines else 'it said nothing'}"
        )
