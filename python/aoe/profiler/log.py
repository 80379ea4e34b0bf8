"""Where the profiler says what it has to say: the logger "aoe.profiler"."""

import logging
import threading

logger = logging.getLogger("aoe.profiler")

_said = set()
_lock = threading.Lock()


def warn_once(key, message, *arguments):
    """Warns the first time that `key` comes up in this process."""
    with _lock:
        if key in _said:
            return
        _said.add(key)
    logger.warning(message, *arguments)


def forget_what_was_said():
    """For tests: every warning may be given again."""
    with _lock:
        _said.clear()
