"""ProfileData: one run, read: the Python side, and what msprof made of the runtime's data.

Times are nanoseconds of CLOCK_MONOTONIC.
"""

import bisect
import csv
import json
import sqlite3
import sys

from . import framework, python_calls

_TID_MASK = 0xFFFFFFFF


class ProfileData:
    """Close it, or use it in a `with`."""

    def __init__(self, run, options, step_list=None):
        self.run = run
        self.options = options
        with open(run.info, encoding="utf-8") as file:
            self.info = json.load(file)
        self.ranges = framework.read(run.framework)
        steps = [framework.Step(**step) for step in self.info["steps"]]
        self.all_steps = steps
        self.steps = steps
        self._span = None
        if step_list is not None:
            self.steps = [step for step in steps if step.number in step_list]
            if not self.steps:
                raise ValueError(
                    f"step_list {step_list}: none of these steps is in the profile, which has"
                    f" {[step.number for step in steps] or 'no steps'}"
                )
            self._span = (self.steps[0].begin_ns, self.steps[-1].end_ns)
            self.ranges = [r for r in self.ranges if self.is_chosen(r.begin_ns)]
        self._begins = [step.begin_ns for step in self.steps]
        directories = run.prof_directories()
        self.prof = directories[-1] if directories else None
        self._connection = None
        self._tasks = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._connection:
            self._connection.close()

    @property
    def has_chosen_steps(self):
        return self._span is not None

    def is_chosen(self, ns):
        """Whether what begins then belongs to the steps that are looked at."""
        return self._span is None or self._span[0] <= ns < self._span[1]

    def step_at(self, ns):
        """The Step in which that moment lies, or None."""
        at = bisect.bisect_right(self._begins, ns) - 1
        return self.steps[at] if at >= 0 and ns < self.steps[at].end_ns else None

    @property
    def calls(self):
        """See python_calls.read(); of the chosen steps."""
        return [call for call in python_calls.read(self.run.framework) if self.is_chosen(call[2])]

    def exported(self, pattern):
        """Files that msprof exported, in the order of their slices."""
        if self.prof is None:
            return []
        files = (self.prof / "mindstudio_profiler_output").glob(pattern)
        return sorted(files, key=lambda path: (_slice_of(path), path.name))

    @property
    def task_columns(self):
        """Of op_summary, in order."""
        for path in self.exported("op_summary_[0-9s]*.csv"):
            with open(path, newline="", encoding="utf-8") as file:
                return next(csv.reader(file), [])
        return []

    @property
    def tasks(self):
        """Rows of op_summary of the chosen steps by time, each a Task."""
        if self._tasks is None:
            self._tasks = [task for task in self._read_tasks() if self.is_chosen(task.begin_ns)]
            link(self._tasks, [r for r in self.ranges if r.kind == "op"])
        return self._tasks

    def query(self, sql):
        """Rows of the exported database; none where there is none."""
        if self._connection is None:
            files = self.exported("../msprof_*.db") + self.exported("msprof_*.db")
            if not files:
                return []
            self._connection = sqlite3.connect(f"file:{files[-1]}?mode=ro", uri=True)
        return self._connection.execute(sql).fetchall()

    def monotonic_to_unix_ns(self):
        rows = self.query("SELECT value FROM META_DATA WHERE name = 'MONOTONIC_TO_UNIX_NS'")
        return int(rows[0][0]) if rows else 0

    def _read_tasks(self):
        rows = self.query("SELECT id, globalTid FROM THREAD")
        threads = {stream: global_tid & _TID_MASK for stream, global_tid in rows}
        for path in self.exported("op_summary_[0-9s]*.csv"):
            with open(path, newline="", encoding="utf-8") as file:
                lines = csv.reader(file)
                places = {name: place for place, name in enumerate(next(lines, []))}
                for line in lines:
                    yield Task(places, line, threads)


class Task:
    """A kernel that ran: a row of op_summary, task["Op Name"]. Equal cells are stored once, as
    there may be millions of rows."""

    __slots__ = ("_places", "_cells", "begin_ns", "end_ns", "stream", "thread", "op")

    def __init__(self, places, cells, threads):
        self._places = places
        self._cells = [sys.intern(cell) for cell in cells]
        self.begin_ns = ns_of(self["Task Start Time(us)"])
        self.end_ns = self.begin_ns + ns_of(self["Task Duration(us)"])
        self.stream = int(self["Stream ID"])
        self.thread = threads.get(self.stream)  #: that recorded it
        self.op = None  #: the Range of the framework that launched it

    def __getitem__(self, column):
        return self._cells[self._places[column]]

    @property
    def name(self):
        return self["Op Name"]


def link(tasks, ops):
    """Gives every task the innermost op of its thread in which it began. `tasks` are sorted."""
    by_thread = {}
    for op in sorted(ops, key=lambda op: (op.begin_ns, -op.end_ns)):
        by_thread.setdefault(op.thread, []).append(op)
    for thread, ops_of_thread in by_thread.items():
        stack = []
        coming = iter(ops_of_thread)
        next_op = next(coming, None)
        for task in tasks:
            if task.thread != thread:
                continue
            while next_op is not None and next_op.begin_ns <= task.begin_ns:
                stack.append(next_op)
                next_op = next(coming, None)
            while stack and stack[-1].end_ns < task.begin_ns:
                stack.pop()
            task.op = stack[-1] if stack else None


def ns_of(microseconds):
    """Exact: "12.345" is 12345."""
    if microseconds in ("", "N/A"):
        return 0
    whole, _, fraction = microseconds.partition(".")
    return int(whole) * 1000 + int(fraction.ljust(3, "0")[:3] or 0)


def us_of(ns):
    """The reverse, as text."""
    sign = "-" if ns < 0 else ""
    return f"{sign}{abs(ns) // 1000}.{abs(ns) % 1000:03d}"


def _slice_of(path):
    parts = path.stem.split("_slice_")
    return int(parts[1].split("_")[0]) if len(parts) == 2 else 0
