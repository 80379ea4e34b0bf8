"""compile(), tune() and profile(): what atc, aoe and aoe_run do, called from Python.

Each runs the program in a process of its own: candidates are measured, and models compiled, without
a word of Python in the way, and whatever happens to them the caller survives.
"""

import contextlib
import dataclasses
import errno
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import typing
import warnings

from . import programs, results, typed_json
from .compile_options import flag_rows
from .exit_codes import ExitCode

_MAY_HAVE_A_RESULT = (ExitCode.FAILURE, ExitCode.INTERRUPTED)


@dataclasses.dataclass(frozen=True)
class TuneProgress:
    """How far a run is; docs/aoe.md has the meaning of each field."""

    stage: str = ""  #: "baseline", "search", "confirm", "done"
    model: str = ""
    done: int = 0  #: tasks
    total: int = 0
    known: int = 0
    not_searched: int = 0
    trials: int = 0
    op: str = ""
    type: str = ""
    shape: str = ""
    default_us: typing.Optional[float] = None
    best_us: typing.Optional[float] = None
    elapsed_s: float = 0
    left_s: typing.Optional[float] = None
    limit_left_s: typing.Optional[float] = None
    waiting: str = ""

    def __str__(self):
        if self.waiting:
            return self.waiting
        if self.stage != "search" or not self.op:
            return self.stage
        speed = (
            f", {self.default_us / self.best_us:.2f}x" if self.default_us and self.best_us else ""
        )
        return f"{self.type} {self.op}{speed}"


@dataclasses.dataclass(frozen=True)
class CompiledModel:
    path: pathlib.Path
    warnings: typing.List[str]  #: what atc says, such as operators that run slowly

    def session(self, *arguments, **keywords):
        """An InferenceSession of the om."""
        from .inference_session import InferenceSession

        return InferenceSession(str(self.path), *arguments, **keywords)


@programs.naming_arguments
def compile(model, output=None, *, input_shape=None, **flags):
    """The om of an ONNX model, compiled with what the bank has: a CompiledModel.

    model         a path, or bytes
    output        without .om; default: the model's name, in the current directory
    input_shape   {"x": (1, 3, 224, 224)}, or atc's own text
    flags         of atc: precision_mode="force_fp16", threads=4, disable_reuse_memory=1, ...

    ProgramError: what atc says.
    """
    with _file_of(model) as path:
        wanted = pathlib.Path(output if output is not None else path.stem)
        if not wanted.parent.is_dir():
            raise FileNotFoundError(
                errno.ENOENT, "the directory of output does not exist", str(wanted.parent)
            )
        with tempfile.TemporaryDirectory(prefix=".aoe_compile_", dir=wanted.parent) as scratch:
            rows = flag_rows({**_shapes(input_shape), **flags})
            base = pathlib.Path(scratch) / wanted.name.removesuffix(".om")
            _, said = programs.run(
                "atc", "--framework=5", f"--model={path}", f"--output={base}", *rows
            )
            (made,) = pathlib.Path(scratch).glob("*.om")
            om = wanted.parent / made.name
            os.replace(made, om)
    return CompiledModel(om, [programs.without_stamp(line) for line in said.splitlines()])


@programs.naming_arguments
def tune(
    model,
    *,
    budget=None,
    progress=None,
    output=None,
    job_type=2,
    input_shape=None,
    bank=None,
    work_path=None,
    **flags,
):
    """Tunes a model on this machine, and gives a TuneResult; what was learned is in the bank.

    budget       seconds from start to end; None: as the preset says
    progress     is called with a TuneProgress, and ends the run early by returning False; or a bar
                 of tqdm, which counts tasks
    output       the tuned om, without .om; default: the model's name with _tuned
    job_type     1: subgraphs, 2: operators
    bank         the root of the bank, as TUNE_BANK_PATH
    work_path    is kept, for reload=True; default: a directory that is gone afterwards
    flags        of aoe: preset="quick", trials=100, reload=True, precision_mode="force_fp16", ...

    A run that was ended early, or in which operators failed, gives a result whose `state` says so.
    ProgramError: what aoe says where there is none. An interrupt ends the run, keeps what was won, and goes on upwards.
    """
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(_file_of(model))
        work = work_path or stack.enter_context(tempfile.TemporaryDirectory(prefix="aoe_work_"))
        result = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())) / "result.json"
        output = pathlib.Path(output if output is not None else f"{path.stem}_tuned").absolute()
        given = {
            "model": path,
            "framework": 5,
            "job_type": job_type,
            "output": output,
            "result": result,
            "progress_bar": "json",
            **_shapes(input_shape),
            **flags,
        }
        if budget is not None:
            given["time_limit"] = budget
        environment = {**os.environ, "ASCEND_WORK_PATH": os.fspath(work)}
        if bank is not None:
            environment["TUNE_BANK_PATH"] = os.fspath(bank)
        _run_aoe(flag_rows(given), environment, _teller(progress), result)
        (found,) = results.results_of(results.load_document(result))
    if work_path is None:  # what it names is gone
        found = dataclasses.replace(found, om=found.output, aoe_result="")
    return found


@programs.naming_arguments
def profile(
    model, feeds=None, *, repeat=50, warmup=5, threads=None, gear=None, input_shape=None, **flags
):
    """Median times of a model's ops, and its latency: a ProfileResult.

    model   an om, or an ONNX model, which is compiled for it (flags: of atc)
    feeds   {name: array}; random values without
    """
    with contextlib.ExitStack() as stack:
        scratch = pathlib.Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="aoe_profile_"))
        )
        path = stack.enter_context(_file_of(model))
        om = (
            path
            if _is_om(path)
            else compile(path, scratch / path.stem, input_shape=input_shape, **flags).path
        )
        rows = flag_rows({"model": om, "repeat": repeat, "warmup": warmup})
        rows += flag_rows(
            {
                key: value
                for key, value in (("threads", threads), ("gear", gear))
                if value is not None
            }
        )
        for number, (name, array) in enumerate((feeds or {}).items()):
            rows.append(f"--input={name}={_saved(array, scratch / f'{number}.npy')}")
        said, _ = programs.run("aoe_run", "--profile", "--json", *rows)
        found = results.profile_of(json.loads(said))
    return dataclasses.replace(found, model=path.name)


def _run_aoe(rows, environment, tell, result):
    """In a process group of its own: an interrupt of the terminal comes to Python alone, which asks
    the program once to end."""
    command = [str(programs.find("aoe")), *rows]
    words = []
    with tempfile.TemporaryFile("w+") as report:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=report,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment,
            start_new_session=True,
        ) as process:
            is_stopped = False
            try:
                for line in process.stderr:
                    if not line.startswith("{"):
                        words.append(line)
                    elif (
                        tell(typed_json.read(TuneProgress, json.loads(line))) is False
                        and not is_stopped
                    ):
                        is_stopped = True
                        process.send_signal(signal.SIGINT)
            except BaseException:
                if not is_stopped:
                    process.send_signal(signal.SIGINT)
                process.stderr.read()
                process.wait()
                raise
            code = process.wait()
    has_result = code in _MAY_HAVE_A_RESULT and result.is_file()
    if code != 0 and not has_result:
        raise programs.ProgramError(command, code, "".join(words))
    for line in words:
        warnings.warn(programs.without_stamp(line), stacklevel=4)


def _teller(progress):
    """A function of a TuneProgress."""
    if progress is None:
        return lambda _: None
    if not hasattr(progress, "update"):
        return progress

    def move(state):  # a bar
        progress.total = state.total
        progress.update(state.done - progress.n)
        progress.set_postfix_str(str(state), refresh=True)

    return move


@contextlib.contextmanager
def _file_of(model):
    """The path of a model that may be given as bytes."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        with tempfile.TemporaryDirectory(prefix="aoe_model_") as directory:
            path = pathlib.Path(directory) / "model.onnx"
            path.write_bytes(model)
            yield path
        return
    path = pathlib.Path(model)
    if not path.is_file():
        raise FileNotFoundError(f"there is no model {path}")
    yield path


def _is_om(path):
    with open(path, "rb") as file:
        return file.read(5) == b"AOEOM"


def _shapes(input_shape):
    if input_shape is None:
        return {}
    if isinstance(input_shape, str):
        return {"input_shape": input_shape}
    rows = (f"{name}:{','.join(map(str, shape))}" for name, shape in input_shape.items())
    return {"input_shape": ";".join(rows)}


def _saved(array, path):
    import numpy

    numpy.save(path, array)
    return path
