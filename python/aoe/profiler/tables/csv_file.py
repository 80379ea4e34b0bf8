"""Writing CSV."""

import csv


def write_csv(path, columns, rows):
    """`rows` may be any iterable; False, and no file, when it is empty."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return False
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerow(first)
        writer.writerows(rows)
    return True
