"""The parts of a page about a bank and its tasks."""

import collections
import statistics

from ..tables import shortened
from . import figures
from .pieces import alone, escaped, list_of

_MOST_TASKS = 36


def notebook(task):
    """For a notebook."""
    return alone(explained(task))


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
        caption = "<br>".join(map(escaped, lines))
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
    won = sorted((task for task in tasks if task.won), key=_gain_of, reverse=True)
    if not won:
        return "<p class=note>Of these tasks none was won.</p>"
    left = (
        f"<p class=note>{len(won) - _MOST_TASKS} more are left out.</p>"
        if len(won) > _MOST_TASKS
        else ""
    )
    return "".join(explained(task) for task in won[:_MOST_TASKS]) + left


def explained(task):
    """One task: what was measured of each way to carry it out."""
    title = (
        f"<h4>{escaped(task.op)} <small>{escaped(task.inputs)},"
        f" {escaped(task.repo_key)}</small></h4>"
    )
    rows = []
    if task.won:
        m = task.won.measured
        name = f"{task.won.impl} {task.won.format}".strip() or "rewritten"
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
    schedule = str(task.won) if task.won else ""
    drawing = figures.bars(rows, "us") if rows else ""
    note = escaped(schedule) + (f"; failed: {escaped(words)}" if words else "")
    return (
        f"<section class=task>{title}<p>{escaped(task.why())}</p>{drawing}"
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
    return list_of(rows)


def _gain_of(task):
    winner = task.won
    if not winner or not winner.measured.time_ns:
        return 0
    return winner.measured.default_time_ns / winner.measured.time_ns


def _default_ns(task):
    for each in (*task.strategies, *task.unconfirmed):
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
