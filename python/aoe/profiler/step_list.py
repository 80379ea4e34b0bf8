"""The argument step_list of analyses."""


def checked_step_list(steps):
    """A list of consecutive integers from 0, sorted, or None; TypeError, ValueError otherwise."""
    if steps is None:
        return None
    is_list = isinstance(steps, (list, tuple))
    if not is_list or not all(isinstance(s, int) and not isinstance(s, bool) for s in steps):
        raise TypeError(f"step_list must be a list of integers, not {steps!r}")
    steps = sorted(steps)
    if not steps or steps[0] < 0 or steps != list(range(steps[0], steps[-1] + 1)):
        raise ValueError(f"step_list must be consecutive integers from 0, not {steps}")
    return steps
