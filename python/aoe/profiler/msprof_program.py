"""The program msprof, which imports and exports raw data."""

import os
import pathlib
import shutil
import subprocess

# Not resolved: in a build tree the package is a link to the sources.
_PACKAGES = pathlib.Path(os.path.abspath(__file__)).parents[2]


def find():
    """Beside the package, on PATH, then below AOE_HOME."""
    nearby = [_PACKAGES.parent / "bin", _PACKAGES / "bin"]  # of a build tree, of pip --target
    if len(_PACKAGES.parents) > 2:
        nearby.append(_PACKAGES.parents[2] / "bin")  # of <prefix>/lib/python3.x/<packages>
    candidates = [directory / "msprof" for directory in nearby]
    on_path = shutil.which("msprof")
    if on_path:
        candidates.append(pathlib.Path(on_path))
    if os.environ.get("AOE_HOME"):
        candidates.append(pathlib.Path(os.environ["AOE_HOME"]) / "bin" / "msprof")
    for candidate in candidates:
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return candidate
    raise RuntimeError(
        "the program msprof is needed to analyse a profile; it is neither beside the package aoe"
        f" ({', '.join(map(str, nearby))}) nor on PATH nor in AOE_HOME/bin: set AOE_HOME to where"
        " it is installed"
    )


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
