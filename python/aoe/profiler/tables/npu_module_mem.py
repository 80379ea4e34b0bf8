"""npu_module_mem.csv: what each component of the runtime has taken from the system."""

from ..profile_data import us_of
from . import memory
from .csv_file import write_csv

FILE = "npu_module_mem.csv"
COLUMNS = ("Component", "Timestamp(us)", "Total Reserved(KB)", "Device Type")

applies = memory.applies


def write(data, path):
    rows = (
        (component, us_of(ns), memory.kilobytes(reserved), memory.DEVICE)
        for component, ns, _, reserved in memory.totals(data)
    )
    return write_csv(path, COLUMNS, rows)
