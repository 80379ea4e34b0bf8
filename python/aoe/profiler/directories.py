"""The directory of one run of the profiler, and where things lie in it.

{host}_{pid}_{UTC time}_ascend_ms/
    profiler_info_0.json       what was asked for, and when it ran
    profiler_metadata.json     what the program added
    ASCEND_PROFILER_OUTPUT/    the analysis
    FRAMEWORK/                 raw data of the Python side
    PROF_*/                    raw data of the runtime
    logs/
"""

import datetime
import os
import pathlib
import socket
import time

MARK = "_ascend_ms"
RANK = 0  #: of the only process


class RunDirectory:
    def __init__(self, path):
        self.path = pathlib.Path(path)

    @classmethod
    def create(cls, parent, worker_name=None):
        """A new one below `parent`, named after `worker_name` or host and process."""
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        while True:
            now = datetime.datetime.now(datetime.timezone.utc)
            name = f"{worker}_{now:%Y%m%d%H%M%S}{now.microsecond // 1000:03d}{MARK}"
            path = pathlib.Path(parent).absolute() / name
            try:
                path.mkdir(mode=0o750, parents=True)
            except FileExistsError:
                if not path.is_dir():
                    raise
                time.sleep(0.001)
                continue
            run = cls(path)
            run.framework.mkdir(mode=0o750)
            run.logs.mkdir(mode=0o750)
            return run

    @property
    def info(self):
        return self.path / f"profiler_info_{RANK}.json"

    @property
    def metadata(self):
        return self.path / "profiler_metadata.json"

    @property
    def output(self):
        return self.path / "ASCEND_PROFILER_OUTPUT"

    @property
    def framework(self):
        return self.path / "FRAMEWORK"

    @property
    def logs(self):
        return self.path / "logs"

    def prof_directories(self):
        return sorted(path for path in self.path.glob("PROF_*") if path.is_dir())


def find_runs(path):
    """Every run at or below `path`, sorted."""
    found = []
    for parent, names, _files in os.walk(path):
        if MARK in os.path.basename(os.path.abspath(parent)):
            found.append(RunDirectory(os.path.abspath(parent)))
            names.clear()
    return sorted(found, key=lambda run: str(run.path))
