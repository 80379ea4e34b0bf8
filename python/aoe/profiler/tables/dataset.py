"""dataset.csv: what moves data to and from models, by operation and stage (the tensor)."""

from ..profile_data import us_of
from .csv_file import write_csv

FILE = "dataset.csv"
COLUMNS = ("Operation", "Stage", "Occurrences", "Avg. time(us)", "Custom Info")


def applies(options):
    return options.collects_cpu


def write(data, path):
    groups = {}
    for each in data.ranges:
        if each.kind == "dataset":
            groups.setdefault((each.name, each.arguments.get("stage", "")), []).append(each)
    return write_csv(path, COLUMNS, (_row(key, groups[key]) for key in sorted(groups)))


def _row(key, ranges):
    total_ns = sum(each.end_ns - each.begin_ns for each in ranges)
    info = {k: v for k, v in ranges[-1].arguments.items() if k != "stage"}
    text = " ".join(f"{name}={value}" for name, value in sorted(info.items()))
    return (*key, len(ranges), us_of(total_ns // len(ranges)), text)
