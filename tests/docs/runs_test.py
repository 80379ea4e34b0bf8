"""The commands of a page run, in order, in an empty directory: runs_test.py PROJECT_DIR BIN_DIR PAGE [SECTION].

They run as they are written, but for what makes them quick: models are --small, and aoe measures a few candidates, and whole models hardly."""
import os
import pathlib
import subprocess
import sys
import tempfile

import pages

QUICK = r"""
has() { local word=$1; shift; case " $* " in *" $word"*) return 0 ;; esac; return 1; }
make_model() { has --small "$@" || has --list "$@" || set -- "$@" --small; command make_model "$@"; }
aoe() { if [ "$1" = report ]; then command aoe "$@"; return; fi
  has --preset "$@" || set -- "$@" --preset="$BRIEF"; command aoe "$@" --trials=4 --search_limit=10 --progress_bar=off; }
"""


def commands_of(page, section):
    """Of all blocks ```sh, or of those below the heading `section`."""
    text = []
    for block in page.blocks:
        heading = [line for number, line in page.prose if line.startswith("#") and number < block.line]
        if block.language == "sh" and (section is None or heading[-1].lstrip("#").strip() == section):
            text.append(block.text)
    return "\n".join(text)


def main():
    root, binaries, name = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    commands = commands_of(pages.Page(root / name), sys.argv[4] if len(sys.argv) > 4 else None)
    if not commands:
        sys.exit(f"{name} has no commands to run")
    with tempfile.TemporaryDirectory(prefix="aoe_docs_test_") as directory:
        environment = {"PATH": f"{binaries}:{os.environ['PATH']}", "HOME": directory, "OMP_NUM_THREADS": "2", "LC_ALL": "C.UTF-8",
                       "BRIEF": str(root / "tests/brief_preset.json")}
        if "AOE_CONFIG_DIR" in os.environ:
            environment["AOE_CONFIG_DIR"] = os.environ["AOE_CONFIG_DIR"]
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", QUICK + "set -x\n" + commands], cwd=directory, env=environment,
                              stdin=subprocess.DEVNULL)
    print(f"{name}: exit code {done.returncode}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
