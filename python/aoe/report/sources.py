"""What a report is made of, read from files: results, runs of aoe_run, banks, profiles."""

import contextlib
import csv
import dataclasses
import pathlib
import sqlite3
import statistics
import typing

from .. import bank, programs
from ..results import (
    RUN_SCHEMA,
    BadResult,
    BankTask,
    TuneResult,
    load_document,
    profile_of,
    results_of,
)


@dataclasses.dataclass(frozen=True)
class KernelTime:
    """An op of a profile: medians over its executions."""

    model: str
    op: str
    type: str
    impl: str
    format: str
    origin: str  #: where its strategy came from: "bank", "default", ...
    median_us: float
    flops: float
    bytes: float


@dataclasses.dataclass
class Roofs:
    peak_gflops: typing.Optional[float] = None
    memory_gb_s: typing.Optional[float] = None


@dataclasses.dataclass
class Profiled:
    """Ops with their times, of a profile or of a run."""

    name: str
    ops: typing.List[KernelTime]
    roofs: Roofs


@dataclasses.dataclass
class BankContent:
    directory: str
    tasks: typing.List[BankTask]


@dataclasses.dataclass
class Sources:
    results: typing.List[TuneResult] = dataclasses.field(default_factory=list)
    banks: typing.List[BankContent] = dataclasses.field(default_factory=list)
    profiles: typing.List[Profiled] = dataclasses.field(default_factory=list)
    notes: typing.List[str] = dataclasses.field(
        default_factory=list
    )  #: what could not be read


def read(paths):
    """Of files and directories. A bank that a result names is read as well, if it is still there.
    BadResult names what is none of these."""
    sources = Sources()
    for path in map(pathlib.Path, paths):
        if (path / "BANK").is_file():
            sources.banks.append(_bank(path))
        elif path.is_dir():
            sources.profiles += _profiles(path)
        elif not path.exists():
            raise BadResult(f"{path}: there is no such file")
        else:
            _add_document(sources, path)
    known = {pathlib.Path(each.directory).resolve() for each in sources.banks}
    for named in dict.fromkeys(
        result.bank for result in sources.results if result.bank
    ):
        directory = pathlib.Path(named)
        if directory.resolve() in known:
            continue
        if (directory / "BANK").is_file():
            sources.banks.append(_bank(directory))
        else:
            sources.notes.append(
                f"the bank {named} is not there: no convergence, no rivals"
            )
    return sources


def _add_document(sources, path):
    document = load_document(path)
    if document.get("schema") == RUN_SCHEMA:
        run = profile_of(document, path)
        if not run.ops:
            raise BadResult(f"{path}: has no ops; run aoe_run with --profile")
        ops = [
            KernelTime(
                run.model,
                op.op,
                op.type,
                op.impl,
                "",
                "",
                op.median_us,
                op.flops,
                op.bytes,
            )
            for op in run.ops
        ]
        roofs = Roofs(run.peak_gflops, run.memory_gb_s)
        sources.profiles.append(Profiled(pathlib.Path(run.model).name, ops, roofs))
    else:
        sources.results += results_of(document, path)


def _bank(directory):
    kind = "graph" if directory.resolve().parent.name == "graph" else "op"
    tasks = bank.Bank(kind=kind, directory=directory).list(all=True, records=True)
    return BankContent(str(directory), tasks)


def _profiles(directory):
    """Of a PROF_* directory, or of all in a directory."""
    found = (
        [directory]
        if directory.name.startswith("PROF_")
        else sorted(directory.glob("PROF_*"))
    )
    if not found:
        raise BadResult(
            f"{directory}: is neither a bank nor a profile, and has no PROF_* directory"
        )
    return [each for path in found for each in _profile(path)]


def _profile(directory):
    """A Profiled for each model that ran."""
    tables = _op_summaries(directory)
    if not tables:
        programs.run("msprof", "--export=on", f"--output={directory}")
        tables = _op_summaries(directory)
    if not tables:
        raise BadResult(f"{directory}: msprof writes no op_summary of it: no model ran")
    with open(tables[-1], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    models = dict.fromkeys(row["Model Name"] for row in rows)
    roofs = _roofs(directory)
    return [
        _profiled(
            model,
            [row for row in rows if row["Model Name"] == model],
            roofs.get(model, Roofs()),
        )
        for model in models
    ]


def _roofs(directory):
    """By model: what its om states of the machine. Tables of ops do not have it, databases do."""
    for pattern in ("msprof_*.db", "device_*/sqlite/profile.db", "sqlite/profile.db"):
        for database in sorted(directory.glob(pattern)):
            with contextlib.closing(
                sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)
            ) as connection:
                rows = connection.execute(
                    "SELECT name, peakGflops, memoryGBs FROM MODEL"
                )
                return {name: Roofs(peak, memory) for name, peak, memory in rows}
    return {}


def _op_summaries(directory):
    return sorted((directory / "mindstudio_profiler_output").glob("op_summary_*.csv"))


def _profiled(model, rows, roofs):
    by_op = {}
    for row in rows:
        by_op.setdefault(row["Op Name"], []).append(row)
    ops = []
    for name, runs in by_op.items():
        first = runs[0]
        flops, moved = _number(first.get("analytic_flops")), _number(
            first.get("analytic_bytes")
        )
        median = statistics.median(_number(row["Task Duration(us)"]) for row in runs)
        ops.append(
            KernelTime(
                model,
                name,
                first["OP Type"],
                first.get("Impl", ""),
                first.get("Format", ""),
                first.get("Strategy", ""),
                median,
                flops,
                moved,
            )
        )
    ops.sort(key=lambda op: -op.median_us)
    return Profiled(model, ops, roofs)


def _number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return 0.0
