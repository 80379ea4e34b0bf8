"""SessionOptions.enable_profiling: a profile of all that a session runs, as ONNX Runtime's file has it.

A list of Chrome's trace events: each run() of the session ("model_run", of category Session), and
each kernel that ran ("<name>_kernel_time", of category Node, with its type as args.op_name).
"""

import datetime
import json
import shutil
import tempfile
import time
import warnings

from .profiler.directories import RunDirectory
from .profiler.options import ProfilerOptions
from .profiler.profile_data import ProfileData
from .profiler.profiler import Profiler


class SessionProfile:
    """Collects from here to end(). There is one profile at a time in a process."""

    def __init__(self, prefix, provider):
        self._prefix, self._provider = prefix, provider
        self._folder = tempfile.mkdtemp(prefix="aoe_session_profile_")
        self._profiler = None
        self.start_ns = time.monotonic_ns()  #: what times in the file count from
        try:
            self._profiler = Profiler(output_path=self._folder, data_simplification=False)
        except RuntimeError as error:  # something else collects
            self._remove()
            warnings.warn(f"SessionOptions.enable_profiling: {error}", stacklevel=4)

    @property
    def is_on(self):
        return self._profiler is not None

    def end(self):
        """Writes the file and says its name; "" where nothing was collected."""
        if not self.is_on:
            return ""
        profiler, self._profiler = self._profiler, None
        try:
            profiler.stop()
            profiler.analyse()
            events = self._events(RunDirectory(profiler.directory))
        finally:
            self._remove()
        path = f"{self._prefix}_{datetime.datetime.now():%Y-%m-%d_%H-%M-%S}.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(map(json.dumps, events)) + "\n]\n")
        return path

    def _events(self, run):
        with ProfileData(run, ProfilerOptions({})) as data:
            runs = [
                _event("Session", "model_run", each.thread, each.begin_ns, each.end_ns, {})
                for each in data.ranges
                if each.name.startswith("InferenceSession.run(")
            ]
            kernels = [
                _event(
                    "Node",
                    f"{task.name}_kernel_time",
                    task.thread or 0,
                    task.begin_ns,
                    task.end_ns,
                    {"op_name": task["OP Type"], "provider": self._provider},
                )
                for task in data.tasks
            ]
        events = sorted(runs + kernels, key=lambda event: event["ts"])
        begin = self.start_ns / 1000
        return [{**event, "ts": round(event["ts"] - begin, 3)} for event in events]

    def _remove(self):
        shutil.rmtree(self._folder, ignore_errors=True)


def _event(category, name, thread, begin_ns, end_ns, arguments):
    return {
        "cat": category,
        "pid": 0,
        "tid": thread,
        "dur": (end_ns - begin_ns) / 1000,
        "ts": begin_ns / 1000,
        "ph": "X",
        "name": name,
        "args": arguments,
    }
