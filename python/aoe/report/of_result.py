"""The parts of a page about the result of a run."""

import collections

from ..tables import figure, shortened
from . import figures
from .pieces import MOST_BARS, alone, escaped, list_of

_FATES = (  # class, in the result file, in words
    ("won", ("added", "updated"), "won now"),
    ("known", ("reserved",), "known to the bank"),
    ("default", ("unsatisfied",), "the default is best"),
    ("failed", ("failed",), "failed"),
    ("open", ("not searched", "undecided", "stopped"), "not searched"),
)


def notebook(result):
    """For a notebook."""
    return alone(verdict(result) + times_by_op(result) + gains(result))


def verdict(result):
    """Before and after, with intervals, and what may be claimed."""
    m = result.model
    if m is None:
        return f"<p class=verdict>{escaped(result.summary())}</p>"
    rows = [("before", "before", m.before_ms, *m.before_interval_ms)]
    speedup = ""
    if is_another_model(m):
        rows.append(("after", "after", m.after_ms, *m.after_interval_ms))
        speedup = figures.intervals(
            [("times as fast", "after", m.speedup, *m.speedup_interval)], "x", (1, "as before")
        )
    drawing = figures.intervals(rows, "ms")
    claim = f"<strong>{escaped(m.verdict)}, {escaped(m.improvement)}</strong>"
    reason = f": {escaped(m.reason)}" if m.reason else ""
    words = (
        f"Lines are 95% confidence intervals, of {m.pairs} pairs of runs. After is before, divided"
        " by the median ratio of the pairs."
    )
    return f"<p class=verdict>{claim}{reason}</p>{drawing}{speedup}<p class=note>{words}</p>"


def is_another_model(verdict_):
    """Not where the untuned om was kept: there is nothing to compare it with."""
    return verdict_.speedup_interval[0] < verdict_.speedup_interval[1]


def facts(result):
    """What was tuned, where, and how it ended."""
    b = result.budget
    limits = [
        f"{words} {value:g}{unit}"
        for words, value, unit in (
            ("time limit", b.time_limit_s, " s"),
            ("search limit", b.search_limit_s, " s"),
            ("trials", b.max_trials, ""),
        )
        if value
    ]
    rows = [
        ("job", "subgraphs" if result.job_type == 1 else "operators"),
        ("state", f"{result.state}, ended by: {b.ended_by.replace('_', ' ')}"),
        ("hardware", f"{result.soc_version}, {result.threads} threads"),
        ("preset", result.preset + (f"; {', '.join(limits)}" if limits else "")),
        ("gears", ", ".join(result.gears)),
        (
            "error against float32",
            (
                ""
                if result.error_against_fp32 is None
                else f"{result.error_against_fp32:.1e} of the range"
            ),
        ),
        ("om", result.output or result.om or ""),
        ("bank", result.bank),
    ]
    return list_of(rows)


def budget(result):
    """Where the time went, and what noise cost."""
    b = result.budget
    waited = min(b.waited_s, b.elapsed_s)
    searched = max(min(b.search_s, b.elapsed_s) - waited, 0)
    drawing = figures.stack(
        [
            ("won", "searching", searched),
            ("noise", "waiting for a calm machine, and measuring again", waited),
            ("default", "baseline, confirmation, the rest", b.elapsed_s - searched - waited),
        ],
        "s",
    )
    words = f"{b.trials} trials in {b.elapsed_s:.0f} s."
    if result.model:
        m = result.model
        low, high = m.before_interval_ms
        words += (
            f" Noise left the untuned model's time between {figure(low, 3)} and {figure(high, 3)} ms"
            f" ({100 * (high / low - 1):.1f}%)."
            if low > 0
            else ""
        )
    return f"{drawing}<p class=note>{words}</p>"


def fates(result):
    """What became of the tasks: hits of the bank among them."""
    counts = collections.Counter(task.fate for task in result.task_list)
    segments = [(kind, words, sum(counts[fate] for fate in names)) for kind, names, words in _FATES]
    if not result.task_list:  # of a file without the list
        c = result.tasks
        segments = [
            ("won", "won now", c.won),
            ("known", "known to the bank", c.known),
            ("open", "not searched", c.not_searched),
            ("default", "the default is best", c.total - c.won - c.known - c.not_searched),
        ]
    if not any(count for _, _, count in segments):
        return "<p class=note>No task was looked at.</p>"
    failed = (
        f"<p class=note>Could not be tuned: {escaped(', '.join(result.failed_ops))}</p>"
        if result.failed_ops
        else ""
    )
    return figures.stack(segments, "") + failed


def times_by_op(result):
    """The largest tasks of the model, each before and after."""
    rows, shown, everything = [], 0.0, 0.0
    for task in sorted(result.task_list, key=lambda task: -(task.in_model_us or 0)):
        if not task.in_model_us:
            continue
        everything += task.in_model_us
        if len(rows) == MOST_BARS:
            continue
        shown += task.in_model_us
        several = f"{task.count}x " if task.count > 1 else ""
        bars = [("before", task.in_model_us, f"{figure(task.in_model_us, 1)} us in the untuned model")]
        if task.fate in ("added", "updated") and task.default_us and task.best_us:
            after = task.in_model_us * task.best_us / task.default_us
            bars.append(
                (
                    "after",
                    after,
                    (
                        f"{figure(after, 1)} us, by its own race: {figure(task.default_us, 1)} to"
                        f" {figure(task.best_us, 1)} us"
                    ),
                )
            )
        rows.append((task.op, several + task.type, bars))
    if not rows:
        return "<p class=note>The result has no times of tasks.</p>"
    rest = (
        f" The {len(rows)} largest tasks, {100 * shown / everything:.0f}% of the time of all tasks."
        if shown < everything
        else ""
    )
    words = (
        "Grey: in the untuned model, all ops that share the task together. Blue: what was won,"
        " scaled by the race of the task alone; the model as a whole says above what remains of"
        f" it.{rest}"
    )
    return f"{figures.bars(rows, 'us')}<p class=note>{words}</p>"


def gains(result):
    """What was won, with the interval of each race."""
    if not result.ops:
        return "<p class=note>Nothing was won.</p>"
    rows = [
        (shortened(op.op, figures.MOST_LETTERS), "after", op.speedup, *op.speedup_interval)
        for op in result.ops[:MOST_BARS]
    ]
    return figures.intervals(rows, "x", (1, "the default")) + result.table().html()
