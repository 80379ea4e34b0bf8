"""What tuning, profiling and banks give, as objects: the JSON of the programs, read once.

Fields have the names and the meaning of docs/result_file.md, docs/aoe_run.md and
docs/bank_schema.md. Keys that this version does not know are left out.
"""

import dataclasses
import json
import pathlib
import typing

from .tables import Table, figure
from .typed_json import BadResult, typed

RESULT_SCHEMA, RUN_SCHEMA = "aoe.result", "aoe.run"
_KNOWN_VERSION = 1
Pair = typing.Tuple[float, float]


@dataclasses.dataclass(frozen=True)
class ModelVerdict:
    """The tuned model against the untuned one; pairs of numbers are 95% confidence intervals."""

    verdict: str = ""  #: "faster", "same", "ambiguous"
    improvement: str = ""
    reason: typing.Optional[str] = None
    pairs: int = 0
    before_ms: float = 0
    before_interval_ms: Pair = (0, 0)
    after_ms: float = 0
    after_interval_ms: Pair = (0, 0)
    speedup: float = 1
    speedup_interval: Pair = (1, 1)


@dataclasses.dataclass(frozen=True)
class OpGain:
    """A task that was won, in the race that decided."""

    repo_key: str = ""
    op: str = ""
    type: str = ""
    shape: str = ""
    count: int = 1
    strategy: str = ""
    before_us: float = 0
    after_us: float = 0
    speedup: float = 1
    speedup_interval: Pair = (1, 1)


@dataclasses.dataclass(frozen=True)
class TaskFate:
    """A task that was looked at, won or not."""

    repo_key: str = ""
    op: str = ""
    type: str = ""
    shape: str = ""
    count: int = 1
    fate: str = ""
    in_model_us: typing.Optional[float] = None
    default_us: typing.Optional[float] = None
    best_us: typing.Optional[float] = None
    trials: int = 0


@dataclasses.dataclass(frozen=True)
class TaskCounts:
    total: int = 0
    known: int = 0
    won: int = 0
    not_searched: int = 0


@dataclasses.dataclass(frozen=True)
class Budget:
    time_limit_s: typing.Optional[float] = None
    search_limit_s: typing.Optional[float] = None
    max_trials: typing.Optional[int] = None
    ended_by: str = ""
    elapsed_s: float = 0
    search_s: float = 0
    waited_s: float = 0
    trials: int = 0


@dataclasses.dataclass(frozen=True)
class TuneResult:
    name: str = ""
    job_type: int = 2
    state: str = ""
    soc_version: str = ""
    threads: int = 0
    preset: str = ""
    gears: typing.List[str] = dataclasses.field(default_factory=list)
    om: typing.Optional[str] = None
    output: typing.Optional[str] = None
    bank: str = ""
    aoe_result: str = ""
    model: typing.Optional[ModelVerdict] = None
    error_against_fp32: typing.Optional[float] = None
    tasks: TaskCounts = TaskCounts()
    ops: typing.List[OpGain] = dataclasses.field(default_factory=list)
    task_list: typing.List[TaskFate] = dataclasses.field(default_factory=list)
    failed_ops: typing.List[str] = dataclasses.field(default_factory=list)
    budget: Budget = Budget()

    def session(self, *arguments, **keywords):
        """An InferenceSession of the tuned om."""
        from .inference_session import InferenceSession

        return InferenceSession(self.output or self.om, *arguments, **keywords)

    def table(self):
        table = Table("op", "type", ">ops", ">before(us)", ">after(us)", ">speedup", "strategy")
        for op in self.ops:
            table.row(
                op.op,
                op.type,
                op.count,
                figure(op.before_us, 1),
                figure(op.after_us, 1),
                f"{op.speedup:.2f}",
                op.strategy,
            )
        return table

    def summary(self):
        """One line: what may be claimed."""
        if self.model is None:
            return f"{self.name}: {self.state}; the model was not measured"
        m = self.model
        claim = (
            m.reason or f"{m.speedup_interval[0]:.3f} to {m.speedup_interval[1]:.3f} times as fast"
        )
        return (
            f"{self.name}: {m.verdict}, {m.improvement} ({claim}); {figure(m.before_ms, 3)} ms before,"
            f" {figure(m.after_ms, 3)} ms after"
        )

    def __str__(self):
        counts = self.tasks
        tail = (
            f"{counts.total} tasks, {counts.known} known to the bank, {counts.won} won,"
            f" {counts.not_searched} not searched; {self.budget.trials} trials"
        )
        return "\n".join([*([self.table().text()] if self.ops else []), self.summary(), tail])

    def _repr_html_(self):
        from .report import of_result

        return of_result.notebook(self)


@dataclasses.dataclass(frozen=True)
class Latency:
    median: float = 0
    mean: float = 0
    min: float = 0
    max: float = 0
    p50: float = 0
    p90: float = 0
    p95: float = 0
    p99: float = 0


@dataclasses.dataclass(frozen=True)
class OpTime:
    op: str = ""
    type: str = ""
    task: str = ""
    impl: str = ""
    median_us: float = 0
    flops: float = 0
    bytes: float = 0
    share: float = 0
    roofline: typing.Optional[float] = None


@dataclasses.dataclass(frozen=True)
class ProfileResult:
    """Of aoe_run --profile: medians of each op."""

    model: str = ""
    soc_version: str = ""
    gear: typing.Optional[str] = None
    runs: int = 0
    latency_ms: Latency = Latency()
    peak_gflops: typing.Optional[float] = None
    memory_gb_s: typing.Optional[float] = None
    ops: typing.List[OpTime] = dataclasses.field(default_factory=list)

    def table(self):
        table = Table("op", "type", "task", "impl", ">median_us", ">share_%", ">roofline_%")
        for op in self.ops:
            roofline = "N/A" if op.roofline is None else f"{100 * op.roofline:.1f}"
            table.row(
                op.op,
                op.type,
                op.task,
                op.impl,
                figure(op.median_us, 2),
                f"{100 * op.share:.1f}",
                roofline,
            )
        return table

    def summary(self):
        return (
            f"{self.model}: median {figure(self.latency_ms.median, 3)} ms of {self.runs} runs, p99"
            f" {figure(self.latency_ms.p99, 3)} ms"
        )

    def __str__(self):
        return f"{self.table().text()}\n{self.summary()}"

    def _repr_html_(self):
        from .report import of_profile

        return of_profile.notebook(self)


@dataclasses.dataclass(frozen=True)
class Measured:
    time_ns: float = 0
    default_time_ns: float = 0
    verdict: str = ""
    policy: str = ""
    threads: int = 0
    trials: int = 0
    when_utc: str = ""


@dataclasses.dataclass(frozen=True)
class RewriteStep:
    kind: str = ""


@dataclasses.dataclass(frozen=True)
class Rewrite:
    """What a subgraph is rewritten by: its rewrites, in this order."""

    steps: typing.List[RewriteStep] = dataclasses.field(default_factory=list)

    def __str__(self):
        return ", ".join(step.kind for step in self.steps)


@dataclasses.dataclass(frozen=True)
class Strategy:
    format: str = ""
    impl: str = ""
    impl_version: int = 0
    schedule: typing.Dict[str, int] = dataclasses.field(default_factory=dict)
    rewrite: Rewrite = Rewrite()
    measured: Measured = Measured()

    def __str__(self):
        schedule = " ".join(f"{axis}={value}" for axis, value in self.schedule.items())
        parts = (self.impl, self.format, schedule, str(self.rewrite))
        return " ".join(each for each in parts if each)


@dataclasses.dataclass(frozen=True)
class Record:
    """One measured candidate."""

    strategy: Strategy = Strategy()
    status: str = ""
    detail: str = ""
    seed: int = 0


@dataclasses.dataclass(frozen=True)
class BankTask:
    repo_key: str = ""
    soc_version: str = ""
    op: str = ""
    inputs: str = ""
    strategies: typing.List[Strategy] = dataclasses.field(default_factory=list)
    unconfirmed: typing.List[Strategy] = dataclasses.field(default_factory=list)
    records: typing.List[Record] = dataclasses.field(default_factory=list)

    @property
    def winner(self):
        """None: nothing beats the default, or nothing is confirmed."""
        return _first_faster(self.strategies)

    @property
    def won(self):
        """The winner, else what won a race and waits for a run to confirm it in the model."""
        return self.winner or _first_faster(self.unconfirmed)

    def rivals(self):
        """The best time of each other Impl and Format that was measured and is right, fastest
        first: (impl and format, nanoseconds)."""
        best = {}
        own = (self.won.impl, self.won.format) if self.won else None
        for record in self.records:
            name = (record.strategy.impl, record.strategy.format)
            if record.status == "ok" and name != own and record.strategy.measured.time_ns > 0:
                best[name] = min(best.get(name, float("inf")), record.strategy.measured.time_ns)
        return sorted(
            ((" ".join(name).strip(), ns) for name, ns in best.items()), key=lambda each: each[1]
        )

    def convergence(self):
        """The best time so far in nanoseconds, after each measurement that was right."""
        best, steps = float("inf"), []
        for record in self.records:
            if record.status == "ok" and record.strategy.measured.time_ns > 0:
                best = min(best, record.strategy.measured.time_ns)
                steps.append(best)
        return steps

    def why(self):
        """In words."""
        if self.won is None:
            return "nothing that was measured beats the default"
        m = self.won.measured
        text = (
            f"{self.won.impl} {self.won.format} took {m.time_ns / 1e3:.2f} us in the race that decided,"
            f" the default {m.default_time_ns / 1e3:.2f} us"
        )
        rivals = self.rivals()
        if rivals:
            name, ns = rivals[0]
            text += f"; the nearest rival, {name}, {ns / 1e3:.2f} us when it was measured"
        failed = sum(record.status != "ok" for record in self.records)
        text += f"; {failed} candidates failed" if failed else ""
        return text if self.winner else f"{text}; no run has confirmed it in the model yet"

    def __str__(self):
        lines = [f"{self.op} ({self.inputs}): {self.why()}"]
        if self.strategies:
            table = Table("format", "impl", ">time(us)", ">default(us)", "verdict", "schedule")
            for each in self.strategies:
                schedule = " ".join(f"{axis}={value}" for axis, value in each.schedule.items())
                table.row(
                    each.format,
                    each.impl,
                    f"{each.measured.time_ns / 1e3:.2f}",
                    f"{each.measured.default_time_ns / 1e3:.2f}",
                    each.measured.verdict,
                    schedule,
                )
            lines.append(table.text())
        return "\n".join(lines)

    def _repr_html_(self):
        from .report import of_bank

        return of_bank.notebook(self)


def _first_faster(strategies):
    return next((each for each in strategies if each.measured.verdict == "faster"), None)


def results_of(document, where="the result"):
    """A TuneResult for each model of the document of --result. BadResult."""
    _require_schema(document, RESULT_SCHEMA, where)
    return _read(typing.List[TuneResult], document.get("results", []), where)


def profile_of(document, where="the run"):
    """Of the document of aoe_run --json --profile. BadResult."""
    _require_schema(document, RUN_SCHEMA, where)
    return _read(ProfileResult, document, where)


def _read(kind, values, where):
    try:
        return typed(kind, values, "results")
    except BadResult as error:
        raise BadResult(f"{where}: {error}") from None


def load_document(path):
    """The JSON of a file, as a dict. OSError, BadResult."""
    try:
        document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise BadResult(
            f"{path}: is no JSON, nor any other text; give what aoe --result or aoe_run --profile"
            " --json has written"
        ) from None
    except ValueError as error:
        raise BadResult(f"{path}: is no JSON ({error})") from None
    if not isinstance(document, dict):
        raise BadResult(f"{path}: is no object of JSON")
    return document


def _require_schema(document, schema, where):
    if document.get("schema") != schema:
        raise BadResult(f"{where}: its schema is {document.get('schema')!r}, not {schema!r}")
    if document.get("version") != _KNOWN_VERSION:
        raise BadResult(
            f"{where}: version {document.get('version')} of {schema}; known is {_KNOWN_VERSION}"
        )
