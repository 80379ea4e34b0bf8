"""The state machine: what has to be done between the actions of two steps.

Actions lie on a ring, NONE -> WARM_UP -> RECORD -> RECORD_AND_SAVE -> NONE. Going from one to
another walks the ring, and each state that is left has its work; a few ways break a record off,
and have work of their own.
"""

import enum

from .log import logger
from .schedule import ProfilerAction


class Work(enum.Enum):
    INIT = "init"  #: a new directory, the runtime made ready
    START = "start"
    STOP = "stop"
    FINALIZE = "finalize"
    TRACE_READY = "trace_ready"  #: the callback of the program
    CLEAR = "clear"  #: forget the directory
    DELETE = "delete"  #: remove it: nothing was collected


_RING = tuple(ProfilerAction)
_SAVE = (Work.STOP, Work.FINALIZE, Work.TRACE_READY, Work.CLEAR)
_BREAK_OFF = (Work.STOP, Work.FINALIZE, Work.CLEAR)
_LEAVING = {
    ProfilerAction.NONE: (Work.INIT,),
    ProfilerAction.WARM_UP: (Work.START,),
    ProfilerAction.RECORD: (),
    ProfilerAction.RECORD_AND_SAVE: _SAVE,
}
# Only a schedule of the program's own making goes these ways. What warms up again needs a new
# directory.
_ABNORMAL = {
    (ProfilerAction.WARM_UP, ProfilerAction.NONE): (Work.START,) + _BREAK_OFF,
    (ProfilerAction.RECORD, ProfilerAction.NONE): _BREAK_OFF,
    (ProfilerAction.RECORD, ProfilerAction.WARM_UP): _BREAK_OFF + (Work.INIT,),
}
_AT_STOP = {
    ProfilerAction.NONE: (),
    ProfilerAction.WARM_UP: (Work.FINALIZE, Work.DELETE, Work.CLEAR),
    ProfilerAction.RECORD: _SAVE,
    ProfilerAction.RECORD_AND_SAVE: _SAVE,
}


def work_between(previous, current):
    """The work, in order, from a step with the action `previous` to the next one, of `current`."""
    if (previous, current) in _ABNORMAL:
        logger.warning(
            "schedule: %s is followed by %s; the record is broken off and its data are incomplete",
            previous.name,
            current.name,
        )
        return _ABNORMAL[previous, current]
    if previous == current and current != ProfilerAction.RECORD_AND_SAVE:
        return ()
    work = []
    state = previous
    while True:
        work.extend(_LEAVING[state])
        state = _RING[(state.value + 1) % len(_RING)]
        if state == current:
            return tuple(work)


def work_at_stop(current):
    """The work of stop() during a step with the action `current`."""
    return _AT_STOP[current]
