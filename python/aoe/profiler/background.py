"""Analyses: now, in another process, or many of them side by side.

Another process is a fresh interpreter, so that nothing of the program is run or copied in it. The
program waits for its analyses when it ends.
"""

import atexit
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import threading

from . import analysis
from .log import logger

_PACKAGES = pathlib.Path(os.path.abspath(__file__)).parents[2]
_running = []
_lock = threading.Lock()


def analyse_now(directory, **settings):
    """See analysis.analyse()."""
    analysis.analyse(directory, **settings)


def analyse_later(directory, **settings):
    """Returns at once; wait() and the end of the program wait."""
    process = _start(directory, settings)
    with _lock:
        if not _running:
            atexit.register(wait)
        _running.append((process, directory))


def wait():
    """Until every analysis of analyse_later() is done; what failed is logged."""
    while True:
        with _lock:
            if not _running:
                return
            process, directory = _running.pop()
        _finish(process, directory)


def analyse_many(directories, **settings):
    """Side by side, as many as half of the processors; those that failed, in order."""
    directories = list(directories)
    if not directories:
        return []
    workers = max(1, min((os.cpu_count() or 1) // 2, len(directories)))

    def run(directory):
        return _finish(_start(directory, settings), directory)

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        succeeded = list(pool.map(run, directories))
    return [each for each, is_done in zip(directories, succeeded) if not is_done]


def _start(directory, settings):
    environment = dict(os.environ)
    paths = [str(_PACKAGES), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return subprocess.Popen(
        [sys.executable, "-m", "aoe.profiler", str(directory), json.dumps(settings)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def _finish(process, directory):
    said = process.communicate()[1].strip()
    if process.returncode == 0:
        if said:
            logger.warning("%s", said)
        return True
    logger.error("%s is not analysed: %s", directory, said or f"exit code {process.returncode}")
    return False


os.register_at_fork(after_in_child=_running.clear)  # they are the parent's to wait for
