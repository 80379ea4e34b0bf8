"""ascend_mindspore_profiler_0.db: msprof's database, and the Python side in two tables more.

STEP_TIME(id, startNs, endNs) and FRAMEWORK_API(startNs, endNs, globalTid, name, kind, arguments,
callStack) have times of Unix, as all of that database.
"""

import json
import shutil
import sqlite3

from .directories import RANK

FILE = f"ascend_mindspore_profiler_{RANK}.db"


def write(data, path):
    files = data.exported("../msprof_*.db") + data.exported("msprof_*.db")
    offset = data.monotonic_to_unix_ns() if files else data.info["monotonic_to_unix_ns"]
    if files:
        shutil.copyfile(files[-1], path)
    connection = sqlite3.connect(path)
    try:
        connection.executescript(
            "CREATE TABLE STEP_TIME(id INTEGER, startNs INTEGER, endNs INTEGER);"
            "CREATE TABLE FRAMEWORK_API(startNs INTEGER, endNs INTEGER, globalTid INTEGER,"
            " name TEXT, kind TEXT, arguments TEXT, callStack TEXT);"
        )
        connection.executemany(
            "INSERT INTO STEP_TIME VALUES (?, ?, ?)",
            [(s.number, s.begin_ns + offset, s.end_ns + offset) for s in data.steps],
        )
        pid = data.info["pid"]
        connection.executemany(
            "INSERT INTO FRAMEWORK_API VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    each.begin_ns + offset,
                    each.end_ns + offset,
                    pid << 32 | each.thread,
                    each.name,
                    each.kind,
                    json.dumps(each.arguments),
                    "\n".join(each.stack),
                )
                for each in data.ranges
            ],
        )
        connection.commit()
    finally:
        connection.close()
    return True
