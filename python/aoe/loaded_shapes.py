"""Models that are loaded for a shape each; the least recently used go when there are many, or when they have long been idle: each
has weights of its own, and a decoder's first shapes do not come again while it decodes."""

import collections
import contextlib
import threading


class LoadedShapes:
    """`make(shape)` gives a model, which has unload(). `idle_uses`: so many of others unload one; None: they do not.

    Whoever needs a shape that is not there makes it himself: others wait for it only if they need
    the same one.
    """

    def __init__(self, capacity, make, idle_uses=None):
        self._capacity, self._make, self._idle_uses = capacity, make, idle_uses
        self._uses = 0
        self._lock = threading.Lock()  # is never held while something is made, run or unloaded
        self._entries = collections.OrderedDict()

    @contextlib.contextmanager
    def use(self, shape):
        """The model, which stays loaded inside of the with."""
        entry, surplus = self._enter(shape)
        try:
            for each in surplus:
                each.model.unload()
            with entry.making:
                if entry.model is None:
                    entry.model = self._make(shape)
            yield entry.model
        finally:
            if self._leave(shape, entry):
                entry.model.unload()

    def close(self):
        """Unloads everything; what is in use then, when its use ends."""
        with self._lock:
            self._capacity = 0
            surplus = self._surplus()
        for entry in surplus:
            entry.model.unload()

    def __len__(self):
        with self._lock:
            return len(self._entries)

    def _enter(self, shape):
        with self._lock:
            entry = self._entries.setdefault(shape, _Entry())
            self._entries.move_to_end(shape)
            entry.users += 1
            self._uses += 1
            entry.last_use = self._uses
            return entry, self._surplus()

    def _leave(self, shape, entry):
        """Whether the entry is to be unloaded by the caller, as nobody else will."""
        with self._lock:
            entry.users -= 1
            if entry.users > 0:
                return False
            is_listed = self._entries.get(shape) is entry
            if is_listed and entry.model is not None and len(self._entries) <= self._capacity:
                return False
            if is_listed:
                del self._entries[shape]
            return entry.model is not None

    def _surplus(self):
        """Takes out of the list what nobody uses and there is no room for; with the lock held."""
        taken = []
        for shape, entry in list(self._entries.items()):
            is_idle = (
                self._idle_uses is not None and self._uses - entry.last_use > self._idle_uses
            )
            if len(self._entries) <= self._capacity and not is_idle:
                break
            if entry.users == 0:
                taken.append(self._entries.pop(shape))
        return taken


class _Entry:
    def __init__(self):
        self.making = threading.Lock()
        self.model = None
        self.users = 0
        self.last_use = 0
