"""schedule(): which steps of a program are collected."""

import enum

from .log import logger


class ProfilerAction(enum.Enum):
    """What the profiler does during a step."""

    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3  #: records, and hands the trace over when the step ends


class Schedule:
    """Maps the number of a step to its action.

    After `skip_first` steps, cycles of `wait` idle steps, `warmup` steps with the profiler made
    ready, and `active` collected ones follow each other: `repeat` of them, or until the program
    ends where it is 0.
    """

    def __init__(self, *, wait, active, warmup=0, repeat=0, skip_first=0):
        self.wait = _at_least("wait", wait, 0)
        self.active = _at_least("active", active, 1)
        self.warmup = _at_least("warmup", warmup, 0)
        self.repeat = _at_least("repeat", repeat, 0)
        self.skip_first = _at_least("skip_first", skip_first, 0)
        if self.warmup == 0:
            logger.warning(
                "schedule: warmup is 0; the first collected step pays for the start of the profiler"
            )

    def __call__(self, step):
        if step < 0:
            raise ValueError(f"schedule: step {step} is negative; steps count from 0")
        if step < self.skip_first:
            return ProfilerAction.NONE
        step -= self.skip_first
        cycle = self.wait + self.warmup + self.active
        if self.repeat > 0 and step // cycle >= self.repeat:
            return ProfilerAction.NONE
        place = step % cycle
        if place < self.wait:
            return ProfilerAction.NONE
        if place < self.wait + self.warmup:
            return ProfilerAction.WARM_UP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    def to_dict(self):
        names = ("wait", "active", "warmup", "repeat", "skip_first")
        return {name: getattr(self, name) for name in names}

    def __repr__(self):
        fields = (f"{name}={value}" for name, value in self.to_dict().items())
        return f"Schedule({', '.join(fields)})"


def schedule(*, wait, active, warmup=0, repeat=0, skip_first=0):
    """A Schedule. What is below its minimum (1 for `active`, else 0), or of another type, becomes
    that minimum, with a warning."""
    return Schedule(wait=wait, active=active, warmup=warmup, repeat=repeat, skip_first=skip_first)


def record_always(_step):
    """What holds without a schedule: all is one record, from start() to stop()."""
    return ProfilerAction.RECORD


def _at_least(name, value, minimum):
    if isinstance(value, int) and not isinstance(value, bool) and value >= minimum:
        return value
    logger.warning(
        "schedule: %s is %r, not an integer of at least %d, which is taken", name, value, minimum
    )
    return minimum
