"""with_stack: every call of a Python function, and of the acl module, with its times.

Calls are of the thread that starts the profiler and of threads that are started afterwards: Python
3.11 has no way into threads that run already.
"""

import json
import os
import sys
import threading
import time

import numpy

from .log import logger

MOST_EVENTS = 4_000_000  #: some 500 MB while they are held; what comes later is counted and dropped
_OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__))
_END = -1


class CallRecorder:
    """start() and stop() must be called by the same thread."""

    def __init__(self):
        self.dropped = 0
        self._is_on = False
        self._of_new_threads = None
        self._events = []  # (thread, ns, index of the name or _END)
        self._names = {}  # code object or function -> index
        self._texts = []
        self._lock = threading.Lock()  # guards new names

    def start(self):
        """False when another profile function (cProfile, a debugger) is set: it is left alone."""
        if sys.getprofile() is not None:
            logger.warning("with_stack: another profile function is set; no calls are recorded")
            return False
        self._is_on = True
        thread, now = threading.get_native_id(), time.monotonic_ns()
        for frame in reversed(list(_frames(sys._getframe(1)))):
            if self._is_shown(frame.f_code):
                self._events.append((thread, now, self._index(frame.f_code)))
        self._of_new_threads = threading.getprofile()
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        return True

    def stop(self):
        if not self._is_on:
            return
        self._is_on = False
        sys.setprofile(None)
        threading.setprofile(self._of_new_threads)
        if self.dropped:
            logger.warning(
                "with_stack: %d Python calls beyond %d events are not in the timeline",
                self.dropped,
                MOST_EVENTS,
            )

    def write(self, directory):
        """python_calls.npy and python_names.json."""
        kind = [("thread", "i8"), ("ns", "i8"), ("name", "i8")]
        numpy.save(directory / "python_calls.npy", numpy.array(self._events, dtype=kind))
        with open(directory / "python_names.json", "w", encoding="utf-8") as file:
            json.dump(self._texts, file)

    def _profile(self, frame, event, argument):
        if not self._is_on:  # a thread that outlived the run
            sys.setprofile(None)
            return
        if event in ("call", "return"):
            key = frame.f_code
            if not self._is_shown(key):
                return
        else:
            key = argument
            if not (getattr(argument, "__module__", None) or "").startswith("acl"):
                return
        if len(self._events) >= MOST_EVENTS:
            self.dropped += event in ("call", "c_call")
            return
        index = self._index(key) if event in ("call", "c_call") else _END
        self._events.append((threading.get_native_id(), time.monotonic_ns(), index))

    def _index(self, key):
        index = self._names.get(key)
        if index is None:
            with self._lock:
                index = self._names.setdefault(key, len(self._texts))
                if index == len(self._texts):
                    self._texts.append(_text_of(key))
        return index

    @staticmethod
    def _is_shown(code):
        return not code.co_filename.startswith(_OWN_DIRECTORY)


def read(directory):
    """(thread, name, begin ns, end ns) of each call, outer ones first; an open one ends with the
    last event."""
    path = directory / "python_calls.npy"
    if not path.exists():
        return []
    with open(directory / "python_names.json", encoding="utf-8") as file:
        names = json.load(file)
    events = numpy.load(path)
    calls = []
    open_calls = {}
    for thread, ns, name in events.tolist():
        stack = open_calls.setdefault(thread, [])
        if name != _END:
            stack.append(len(calls))
            calls.append([thread, names[name], ns, None])
        elif stack:  # else: the end of a call that began before the record
            calls[stack.pop()][3] = ns
    last_ns = int(events["ns"].max()) if len(events) else 0
    for stack in open_calls.values():
        for index in stack:
            calls[index][3] = last_ns
    return [tuple(call) for call in calls]


def _frames(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def _text_of(key):
    if hasattr(key, "co_filename"):
        return f"{key.co_filename}({key.co_firstlineno}): {key.co_qualname}"
    return f"{key.__module__}.{key.__name__}"
