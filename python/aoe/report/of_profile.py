"""The parts of a page about a profile."""

import collections

from ..tables import Table
from . import figures
from .pieces import MOST_BARS, alone, escaped


def notebook(profile):
    """For a notebook."""
    return alone(f"<p>{escaped(profile.summary())}</p>" + profile.table().html())


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
        for op in profiled.ops[:MOST_BARS]
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
