"""memory_record.csv: what each component of the runtime holds, after every change."""

from ..profile_data import us_of
from . import memory
from .csv_file import write_csv

FILE = "memory_record.csv"
COLUMNS = (
    "Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)", "Total Active(MB)",
    "Stream Ptr", "Device Type",
)  # fmt: skip

applies = memory.applies


def write(data, path):
    return write_csv(path, COLUMNS, _rows(data))


def _rows(data):
    for component, ns, allocated, reserved in memory.totals(data):
        active = allocated
        sizes = [memory.megabytes(count) for count in (allocated, reserved, active)]
        yield (component, us_of(ns), *sizes, memory.STREAM, memory.DEVICE)
