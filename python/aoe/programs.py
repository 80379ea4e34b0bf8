"""The programs of this engine: where they are, and what they say when they are run."""

import difflib
import functools
import inspect
import os
import pathlib
import re
import shutil
import subprocess

from .errors import Fail

# Not resolved: in a build tree the package is a link to the sources.
_PACKAGES = pathlib.Path(os.path.abspath(__file__)).parents[1]
_PURPOSES = {
    "msprof": "to analyse a profile",
    "atc": "to compile ONNX models",
    "aoe": "to tune models",
    "aoe_run": "to measure oms",
    "aoe_bank": "to look into a bank",
}


class ProgramError(Fail):
    """A program that failed: its own words, `exit_code` as docs/aoe.md has them, and `command`."""

    def __init__(self, command, exit_code, said):
        # Warnings come before the error, which is the last line.
        lines = said.strip().splitlines()
        reason = re.sub(r"^\w+: error: ", "", lines[-1]) if lines else "it said nothing"
        name = pathlib.Path(command[0]).name
        super().__init__(f"{name} failed with exit code {exit_code}: {reason}")
        self.command, self.exit_code, self.said = command, exit_code, said

    def name_argument(self, call, own, keywords):
        """Instead of the flag that the program takes for the nearest."""
        unknown = re.search(r"unknown flag '--(\w+)'(; .*)?", str(self))
        if unknown is None or unknown[1] not in keywords:
            return
        flags = re.findall(r"did you mean --(\w+)", str(self))
        near = difflib.get_close_matches(unknown[1], [*own, *flags], 1)
        if near and near[0] in own:
            what = str(self)[: unknown.end(1)]
            self.args = (f"{what}'; did you mean the argument {near[0]} of {call}()?",)


def naming_arguments(call):
    """A decorator of calls that hand keywords to programs, which know their flags alone: of one
    that is not known the call's own argument is named where that is the nearest."""
    parameters = inspect.signature(call).parameters.values()
    own = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]

    @functools.wraps(call)
    def named(*arguments, **keywords):
        try:
            return call(*arguments, **keywords)
        except ProgramError as error:
            error.name_argument(call.__name__, own, keywords)
            raise

    return named


def find(name):
    """The path of the program: beside the package, on PATH, then below AOE_HOME."""
    nearby = [_PACKAGES.parent / "bin", _PACKAGES / "bin"]  # of a build tree, of pip --target
    if len(_PACKAGES.parents) > 2:
        nearby.append(_PACKAGES.parents[2] / "bin")  # of <prefix>/lib/python3.x/<packages>
    candidates = [directory / name for directory in nearby]
    on_path = shutil.which(name)
    if on_path:
        candidates.append(pathlib.Path(on_path))
    if os.environ.get("AOE_HOME"):
        candidates.append(pathlib.Path(os.environ["AOE_HOME"]) / "bin" / name)
    for candidate in candidates:
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return candidate
    raise RuntimeError(
        f"the program {name} is needed {_PURPOSES.get(name, 'here')}; it is neither beside the"
        f" package aoe ({', '.join(map(str, nearby))}) nor on PATH nor in AOE_HOME/bin. `cmake"
        " --install` installs it: set PATH, or AOE_HOME to the directory that it was given as"
        " --prefix"
    )


def run(name, *arguments, environment=None):
    """What the program says on stdout and on stderr. ProgramError."""
    command = [str(find(name)), *map(str, arguments)]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=environment,
    )
    if done.returncode != 0:
        raise ProgramError(command, done.returncode, done.stderr or done.stdout)
    return done.stdout, done.stderr


def without_stamp(line):
    """What a program has logged, without time, level and folder."""
    return re.sub(r"^\[[^]]*\] (\[\w+\] ){2}", "", line.strip())


def versions(name="atc"):
    """{"engine": .., "LLVM": .., "oneDNN": .., "soc": ..} of the program as it would run now."""
    path = find(name)
    stat = path.stat()
    settings = (os.environ.get("OMP_NUM_THREADS"), os.environ.get("AOE_CONFIG_DIR"))
    cores = frozenset(os.sched_getaffinity(0))
    return dict(_versions(name, str(path), stat.st_mtime_ns, stat.st_size, settings, cores))


@functools.lru_cache(maxsize=16)
def _versions(name, _path, mtime_ns, size, _settings, _cores):
    lines = [line.split(maxsplit=1) for line in run(name, "--version")[0].splitlines()[1:]]
    return {**dict(lines), "build": f"{mtime_ns}/{size}"}
