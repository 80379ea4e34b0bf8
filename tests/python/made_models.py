"""Oms for tests, made by the programs of the build tree (AOE_BIN)."""

import atexit
import os
import pathlib
import shutil
import subprocess
import tempfile

# For preset= of what tunes but asks for no times.
BRIEF = str(pathlib.Path(__file__).resolve().parent.parent / "brief_preset.json")

_BIN = pathlib.Path(os.environ.get("AOE_BIN", "build/ci/bin"))
_directory = tempfile.mkdtemp(prefix="aoe_models_")
atexit.register(shutil.rmtree, _directory, ignore_errors=True)
_made = {}


def program(name):
    return str(_BIN / name)


def om(model, *make_flags, atc_flags=()):
    """The path of an om of make_model's `model`, small; the same om for the same flags."""
    key = (model, make_flags, tuple(atc_flags))
    if key not in _made:
        path = pathlib.Path(_directory) / f"{model}_{len(_made)}"
        _run("make_model", model, "--small", f"--output={path}.onnx", *make_flags)
        _run("atc", "--framework=5", f"--model={path}.onnx", f"--output={path}", *atc_flags)
        (_made[key],) = path.parent.glob(f"{path.name}*.om")
    return _made[key]


def _run(name, *arguments):
    environment = {**os.environ, "HOME": _directory, "CANN_KNOWLEDGE_BANK_PROCESS_NUM": "0"}
    done = subprocess.run(
        [program(name), *arguments], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{name} {' '.join(arguments)}: {done.stdout}{done.stderr}")
