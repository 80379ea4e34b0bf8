"""Run: one directory while it is being filled, and what the Work of a transition does to it."""

import dataclasses
import json
import os
import shutil
import socket
import threading
import time

from . import framework, python_calls
from .directories import RANK, RunDirectory
from .log import logger
from .metadata import Metadata

_owner_lock = threading.Lock()
_owner = None  # the Run that collects: the recorder of the runtime is the process's


class Run:
    """init, start, stop, finalize, in this order; delete() instead of what was collected."""

    def __init__(self, options, collector, worker_name=None):
        self._options = options
        self._collector = collector
        self._worker_name = worker_name
        self._calls = None
        self._ranges = []
        self._steps = []
        self._open_step = None
        self.is_collecting = False
        self._times = {"start_ns": 0, "end_ns": 0}
        self.directory = None

    def init(self):
        """RuntimeError when another one collects in this process, or the runtime refuses."""
        global _owner
        with _owner_lock:
            if _owner is not None:
                raise RuntimeError(
                    "another Profiler of this process collects; stop it before this one starts"
                )
            _owner = self
        try:
            self.directory = RunDirectory.create(self._options.output_path, self._worker_name)
            self._write_info()
            self._collector.init(self.directory.path, self._options)
        except BaseException:
            self.delete()
            self.release()
            raise

    def start(self):
        self._times["start_ns"] = time.monotonic_ns()
        self._collector.start()
        self.is_collecting = True
        if self._options.collects_cpu:
            framework.recorder.start(self._options.with_stack)
        if self._options.with_stack:
            self._calls = python_calls.CallRecorder()
            if not self._calls.start():
                self._calls = None

    def stop(self):
        if self._calls:
            self._calls.stop()
        self.is_collecting = False
        self._ranges = framework.recorder.stop()
        self._times["end_ns"] = time.monotonic_ns()
        self._collector.stop()

    def finalize(self, metadata):
        self._collector.finalize()
        framework.write(self.directory.framework, self._ranges)
        if self._calls:
            self._calls.write(self.directory.framework)
        metadata.write(self.directory.metadata)
        self._write_info()

    def delete(self):
        if self.directory is not None:
            shutil.rmtree(self.directory.path, ignore_errors=True)

    def break_off(self):
        """After a failure: the runtime and the interpreter are as they were before the run."""
        self.forget()
        try:
            self._collector.finalize()
        except Exception as error:  # it failed before, which is raised
            logger.debug("finalize after a failure: %s", error)

    def forget(self):
        """Nothing more is recorded, as in a forked process, which has no part in it."""
        self.is_collecting = False
        self._open_step = None
        framework.recorder.forget()
        if self._calls:
            self._calls.stop()

    def release(self):
        """Another one may collect."""
        global _owner
        with _owner_lock:
            if _owner is self:
                _owner = None

    def begin_step(self, number):
        """Nothing while nothing is collected, as end_step()."""
        if self.is_collecting:
            self._open_step = (number, time.monotonic_ns())
            self._collector.begin_step(number)

    def end_step(self):
        if self._open_step is None:
            return
        if self.is_collecting:
            self._collector.end_step()
            number, begin_ns = self._open_step
            self._steps.append(framework.Step(number, begin_ns, time.monotonic_ns()))
        self._open_step = None

    def _write_info(self):
        """Also before there is anything: what a killed program leaves can be analysed then."""
        info = {
            "arguments": self._options.to_dict(),
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "rank_id": RANK,
            "device_id": 0,
            "monotonic_to_unix_ns": time.time_ns() - time.monotonic_ns(),
            **self._times,
            "steps": [dataclasses.asdict(step) for step in self._steps],
            "python_calls_dropped": self._calls.dropped if self._calls else 0,
        }
        new = self.directory.info.with_suffix(".new")
        with open(new, "w", encoding="utf-8") as file:
            json.dump(info, file, indent=4)
        new.rename(self.directory.info)


def break_off_at_exit():
    """A run that nobody stopped: its raw data stay, nothing is analysed."""
    run = _owner
    if run is None or not run.is_collecting:
        return
    logger.warning("the program ends while %s is collected; it is kept", run.directory.path)
    run.end_step()
    run.stop()
    run.finalize(Metadata())
    run.release()


def _forget_in_child():
    """A forked process has no part in what its parent collects."""
    global _owner
    run, _owner = _owner, None
    if run is not None:
        run.forget()


os.register_at_fork(after_in_child=_forget_in_child)
