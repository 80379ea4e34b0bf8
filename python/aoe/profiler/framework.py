"""What the Python side of a program does while it is profiled: steps, and ranges of ops.

All times are time.monotonic_ns(), the clock of the runtime's own events. Recording one range costs
a lock and an append; while nothing is recorded it costs one test.
"""

import contextlib
import dataclasses
import json
import sys
import threading
import time
import typing

STEP_NAME = "ProfilerStep#"
_OWN_PACKAGE = __name__.partition(".")[0]


@dataclasses.dataclass
class Range:
    name: str
    kind: str  #: "call": of Python; "op": of the framework, launches kernels; "dataset": moves data
    thread: int  #: of the operating system
    begin_ns: int
    end_ns: int
    arguments: typing.Dict[str, typing.Any]
    stack: typing.List[str]  #: the innermost frame first; empty without with_stack


@dataclasses.dataclass
class Step:
    number: int
    begin_ns: int
    end_ns: int


class Recorder:
    """Thread-safe. There is one for the process: `recorder`."""

    def __init__(self):
        self._lock = threading.Lock()
        self._ranges = None  # a list while recording
        self._with_stack = False

    @property
    def is_on(self):
        return self._ranges is not None

    def start(self, with_stack):
        with self._lock:
            self._ranges = []
            self._with_stack = with_stack

    def stop(self):
        """What was recorded since start()."""
        with self._lock:
            ranges, self._ranges = self._ranges or [], None
            return ranges

    def forget(self):
        """In a forked process, where another thread may have held the lock."""
        self._lock = threading.Lock()
        self._ranges = None

    def range(self, name, kind, **arguments):
        """For a `with`: records what runs inside, also when that raises; the timeline shows
        `arguments`."""
        return _OpenRange(self, name, kind, arguments) if self.is_on else _NOTHING

    def _begin(self, frame):
        return (call_stack(frame) if self._with_stack else []), time.monotonic_ns()

    def _end(self, done):
        with self._lock:
            if self._ranges is not None:
                self._ranges.append(done)


class _OpenRange:
    """A class, not a generator of contextlib, whose frames would be among the Python calls."""

    def __init__(self, recorder, name, kind, arguments):
        self._recorder = recorder
        self._done = Range(name, kind, threading.get_native_id(), 0, 0, arguments, [])

    def __enter__(self):
        self._done.stack, self._done.begin_ns = self._recorder._begin(sys._getframe(1))

    def __exit__(self, *_):
        self._done.end_ns = time.monotonic_ns()
        self._recorder._end(self._done)


_NOTHING = contextlib.nullcontext()


recorder = Recorder()


def call_stack(frame):
    """`frame` and those that called it, as "file(line): function", without this package's own."""
    lines = []
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] != _OWN_PACKAGE:
            code = frame.f_code
            lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines


def write(directory, ranges):
    """ranges.json. Steps are in the run's profiler_info_0.json, which is never dropped."""
    with open(directory / "ranges.json", "w", encoding="utf-8") as file:
        json.dump([dataclasses.asdict(each) for each in ranges], file)


def read(directory):
    """The ranges as they were written; none where there is no file."""
    path = directory / "ranges.json"
    if not path.exists():
        return []
    with open(path, encoding="utf-8") as file:
        return [Range(**each) for each in json.load(file)]
