"""Which om serves a shape: one of its own, or one in which sizes are open.

A cache that grows word by word has another shape at each step, and compiling takes as long as hundreds of steps. So the first
shapes get an om each, every further one shares an om with open sizes, and one that keeps coming gets its own after all.
Open is first what sets one shape apart from the nearest before it, of a decoder the length of the past but not the number of new
words, since what is known is faster; for shapes that this does not serve, all that has differed so far.
"""

import collections
import threading

OPEN = -1
_USES_FOR_AN_OWN = 16
_MOST_COUNTED = 4096  #: shapes


class OpenSizes:
    """Shapes are tuples of a tuple for each input whose shape the model leaves open. Thread-safe."""

    def __init__(self, own_at_once, most_loaded):
        """`own_at_once`: so many shapes get an om as they come. `most_loaded`: of all oms; one that is
        unloaded again for the next would be worse than one for all."""
        self._own_at_once = own_at_once
        self._most_loaded = most_loaded
        self._lock = threading.Lock()
        self._own = set()
        self._uses = collections.OrderedDict()
        self._narrow = self._wide = None
        self._is_refused = False

    def key(self, shapes):
        """The shapes to compile for; OPEN for a size that the om leaves open."""
        with self._lock:
            self._wide = _joined(self._wide or shapes, shapes)
            if self._is_refused or not shapes or shapes in self._own or self._takes(shapes):
                return shapes
            if self._narrow is None:
                joined = [_joined(own, shapes) for own in self._own]
                self._narrow = min(joined, key=_open_count, default=shapes)
            return self._narrow if _joined(self._narrow, shapes) == self._narrow else self._wide

    def refuse(self):
        """The model cannot be compiled so: each shape gets its own."""
        with self._lock:
            self._is_refused = True

    def _takes(self, shapes):
        if len(self._own) < self._own_at_once:
            self._own.add(shapes)
            return True
        uses = self._uses.pop(shapes, 0) + 1
        most_own = self._most_loaded - len({self._narrow, self._wide})
        if uses > _USES_FOR_AN_OWN and len(self._own) < most_own:
            self._own.add(shapes)
            return True
        self._uses[shapes] = uses
        if len(self._uses) > _MOST_COUNTED:
            self._uses.popitem(last=False)
        return False


def _open_count(pattern):
    return sum(sizes.count(OPEN) for sizes in pattern)


def _joined(pattern, shapes):
    return tuple(
        tuple(size if size == have else OPEN for size, have in zip(one, other))
        for one, other in zip(pattern, shapes)
    )
