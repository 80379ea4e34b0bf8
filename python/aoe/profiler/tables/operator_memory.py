"""operator_memory.csv: every block of memory, from its allocation to its release.

The engine has no pool: a block is active as long as it is allocated, and what is reserved is what
is allocated.
"""

from ..profile_data import us_of
from . import memory
from .csv_file import write_csv

FILE = "operator_memory.csv"
COLUMNS = (
    "Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)", "Active Release Time(us)",
    "Duration(us)", "Active Duration(us)", "Allocation Total Allocated(MB)",
    "Allocation Total Reserved(MB)", "Allocation Total Active(MB)",
    "Release Total Allocated(MB)", "Release Total Reserved(MB)", "Release Total Active(MB)",
    "Stream Ptr", "Device Type",
)  # fmt: skip
_NEVER = "N/A"

applies = memory.applies


def write(data, path):
    return write_csv(path, COLUMNS, (_row(*block) for block in memory.blocks(data)))


def _row(name, size, allocation, release):
    begin_ns = allocation[0]
    end = us_of(release[0]) if release else _NEVER
    duration = us_of(release[0] - begin_ns) if release else _NEVER
    return (
        name,
        memory.kilobytes(size),
        us_of(begin_ns),
        end,
        end,
        duration,
        duration,
        *_totals(allocation),
        *(_totals(release) if release else (_NEVER,) * 3),
        memory.STREAM,
        memory.DEVICE,
    )


def _totals(moment):
    _, allocated, reserved = moment
    active = allocated
    return [memory.megabytes(count) for count in (allocated, reserved, active)]
