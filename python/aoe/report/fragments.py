"""The parts of a page: each a piece of HTML about one result, task, bank or profile."""

import collections
import html
import statistics

from ..tables import Table, shortened
from . import figures
from .style import STYLE

_MOST_BARS = 24
_MOST_TASKS = 36
_FATES = (  # class, in the result file, in words
    ("won", ("added", "updated"), "won now"),
    ("known", ("reserved",), "known to the bank"),
    ("default", ("unsatisfied",), "the default is best"),
    ("failed", ("failed",), "failed"),
    ("open", ("not searched", "stopped"), "not searched"),
)


def of_result(result):
    """For a notebook."""
    return _alone(verdict(result) + times_by_op(result) + gains(result))


def of_profile(profile):
    """For a notebook."""
    return _alone(f"<p>{_escaped(profile.summary())}</p>" + profile.table().html())


def of_task(task):
    """For a notebook."""
    return _alone(explained(task))


# ---- of a result ----


def verdict(result):
    """Before and after, with intervals, and what may be claimed."""
    m = result.model
    if m is None:
        return f"<p class=verdict>{_escaped(result.summary())}</p>"
    rows = [("before", "before", m.before_ms, *m.before_interval_ms)]
    speedup = ""
    if is_another_model(m):
        rows.append(("after", "after", m.after_ms, *m.after_interval_ms))
        speedup = figures.intervals(
            [("times as fast", "after", m.speedup, *m.speedup_interval)], "x", (1, "as before")
        )
    drawing = figures.intervals(rows, "ms")
    claim = f"<strong>{_escaped(m.verdict)}, {_escaped(m.improvement)}</strong>"
    reason = f": {_escaped(m.reason)}" if m.reason else ""
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
    return _list_of(rows)


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
            f" Noise left the untuned model's time between {low:.3f} and {high:.3f} ms"
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
    failed = (
        f"<p class=note>Could not be tuned: {_escaped(', '.join(result.failed_ops))}</p>"
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
        if len(rows) == _MOST_BARS:
            continue
        shown += task.in_model_us
        several = f"{task.count}x " if task.count > 1 else ""
        bars = [("before", task.in_model_us, f"{task.in_model_us:.1f} us in the untuned model")]
        if task.fate in ("added", "updated") and task.default_us and task.best_us:
            after = task.in_model_us * task.best_us / task.default_us
            bars.append(
                (
                    "after",
                    after,
                    (
                        f"{after:.1f} us, by its own race: {task.default_us:.1f} to"
                        f" {task.best_us:.1f} us"
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
        for op in result.ops[:_MOST_BARS]
    ]
    return figures.intervals(rows, "x", (1, "the default")) + result.table().html()


# ---- of a bank ----


def convergence(tasks):
    """The search of each task: the best so far against its default."""
    cells = []
    searched = [task for task in tasks if len(task.convergence()) > 1]
    searched.sort(key=_gain_of, reverse=True)
    for task in searched[:_MOST_TASKS]:
        values = [ns / 1e3 for ns in task.convergence()]
        default = _default_ns(task)
        end = f"{values[-1]:.2f} us" + (f", default {default / 1e3:.2f}" if default else "")
        drawing = figures.steps(values, default / 1e3 if default else None, "us")
        lines = [task.op, shortened(task.inputs, 40), f"{len(values)} trials, {end}"]
        caption = "<br>".join(map(_escaped, lines))
        cells.append(f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>")
    if not cells:
        return "<p class=note>The bank has no measurements of these tasks.</p>"
    words = (
        "The best time so far, after each trial that gave a right result, in the order in which the"
        " bank got them. Dashed: the default. Those that won most come first."
    )
    left = (
        f" {len(searched) - _MOST_TASKS} more tasks are left out."
        if len(searched) > _MOST_TASKS
        else ""
    )
    return f"<div class=grid>{''.join(cells)}</div><p class=note>{words}{left}</p>"


def winners(tasks):
    """Why each winner won: the default and the rivals beside it."""
    won = sorted((task for task in tasks if task.winner), key=_gain_of, reverse=True)
    if not won:
        return "<p class=note>In this bank no task has a winner: nothing beats the defaults.</p>"
    left = (
        f"<p class=note>{len(won) - _MOST_TASKS} more are left out.</p>"
        if len(won) > _MOST_TASKS
        else ""
    )
    return "".join(explained(task) for task in won[:_MOST_TASKS]) + left


def explained(task):
    """One task: what was measured of each way to carry it out."""
    title = (
        f"<h4>{_escaped(task.op)} <small>{_escaped(task.inputs)},"
        f" {_escaped(task.repo_key)}</small></h4>"
    )
    rows = []
    if task.winner:
        m = task.winner.measured
        name = f"{task.winner.impl} {task.winner.format}".strip() or "rewritten"
        rows = [
            (name, "", [("after", m.time_ns / 1e3, "the winner, in the race that decided")]),
            ("default", "", [("before", m.default_time_ns / 1e3, "the default, in the same race")]),
        ]
    rows += [
        (name, "", [("rival", ns / 1e3, "best time of its trials")])
        for name, ns in task.rivals()[:6]
    ]
    failed = collections.Counter(record.status for record in task.records if record.status != "ok")
    words = ", ".join(
        f"{count} {status.replace('_', ' ')}" for status, count in failed.most_common()
    )
    schedule = str(task.winner) if task.winner else ""
    drawing = figures.bars(rows, "us") if rows else ""
    note = _escaped(schedule) + (f"; failed: {_escaped(words)}" if words else "")
    return (
        f"<section class=task>{title}<p>{_escaped(task.why())}</p>{drawing}"
        f"<p class=note>{note}</p></section>"
    )


def bank_summary(content):
    winners_ = [task for task in content.tasks if task.winner]
    records = [record for task in content.tasks for record in task.records]
    failed = sum(record.status != "ok" for record in records)
    when = [
        each.measured.when_utc
        for task in content.tasks
        for each in task.strategies
        if each.measured.when_utc
    ]
    policies = collections.Counter(
        each.measured.policy
        for task in winners_
        for each in task.strategies
        if each.measured.policy
    )
    unconfirmed = sum(bool(task.unconfirmed) for task in content.tasks)
    rows = [
        ("directory", content.directory),
        (
            "tasks",
            f"{len(content.tasks)}, {len(winners_)} with a winner, {unconfirmed} with one that is not"
            " confirmed",
        ),
        ("measurements", f"{len(records)}, {failed} of them failed"),
        ("won", f"{min(when)} to {max(when)}" if when else ""),
        (
            "measured by",
            ", ".join(f"{policy} ({count})" for policy, count in policies.most_common()),
        ),
        ("gain", _gains_in_words(winners_)),
    ]
    return _list_of(rows)


def _list_of(rows):
    """Of (name, value), without those that have none."""
    cells = (f"<dt>{name}</dt><dd>{_escaped(value)}</dd>" for name, value in rows if value)
    return f"<dl>{''.join(cells)}</dl>"


# ---- of a profile ----


def roofline(profiled):
    """Every op by its arithmetic intensity and speed."""
    total = sum(op.median_us for op in profiled.ops) or 1
    points = [
        (
            f"{op.op} ({op.type}, {op.impl}): {op.median_us:.1f} us, {100 * op.median_us / total:.1f}%,"
            f" {op.flops / op.median_us / 1e3:.1f} GFLOP/s",
            op.flops / op.bytes,
            op.flops / op.median_us / 1e3,
            op.median_us / total,
        )
        for op in profiled.ops
        if op.flops > 0 and op.bytes > 0 and op.median_us > 0
    ]
    if not points:
        return "<p class=note>No op of it computes anything.</p>"
    words = (
        "A circle is an op; its area is its share of the time. Operations and bytes are analytic:"
        " what the op needs, not what a counter saw. The roof is what the om says of the machine:"
        " measured where it was compiled with a bank that aoe has filled, else assumed of its kind."
    )
    return (
        figures.roofline(points, profiled.roofs.peak_gflops, profiled.roofs.memory_gb_s)
        + f"<p class=note>{words}</p>"
    )


def times(profiled):
    """The slowest ops."""
    total = sum(op.median_us for op in profiled.ops) or 1
    rows = [
        (
            op.op,
            op.type,
            [
                (
                    "after",
                    op.median_us,
                    f"{op.median_us:.1f} us, {100 * op.median_us / total:.1f}%, {op.impl} {op.format}",
                )
            ],
        )
        for op in profiled.ops[:_MOST_BARS]
    ]
    return figures.bars(rows, "us")


def hits(profiled):
    """Where the strategies of its ops came from, by number and by time."""
    origins = collections.Counter(
        op.origin for op in profiled.ops if op.origin and op.origin != "N/A"
    )
    if not origins:
        return ""
    table = Table("strategy from", ">ops", ">time(us)", ">share_%")
    total = sum(op.median_us for op in profiled.ops) or 1
    for origin, count in origins.most_common():
        spent = sum(op.median_us for op in profiled.ops if op.origin == origin)
        table.row(origin, count, f"{spent:.1f}", f"{100 * spent / total:.1f}")
    return table.html()


def _gain_of(task):
    winner = task.winner
    if not winner or not winner.measured.time_ns:
        return 0
    return winner.measured.default_time_ns / winner.measured.time_ns


def _default_ns(task):
    for each in task.strategies:
        if each.measured.default_time_ns > 0:
            return each.measured.default_time_ns
    return None


def _gains_in_words(tasks):
    ratios = [ratio for ratio in map(_gain_of, tasks) if ratio > 0]
    if not ratios:
        return ""
    return (
        f"winners are {statistics.median(ratios):.2f} times as fast as their defaults in the"
        f" median, {max(ratios):.2f} at most"
    )


def _alone(content):
    return f"<style>{STYLE}</style><div class=aoe>{content}</div>"


def _escaped(text):
    return html.escape(str(text))
