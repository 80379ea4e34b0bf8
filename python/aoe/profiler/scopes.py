"""Scope Layer: the modules of a model, from the names of its kernels.

A kernel "/encoder/layer.0/Add" ran in the scopes "encoder" and "encoder/layer.0". A scope lasts
from its first kernel to its last one, as long as kernels of the same scope follow each other.
"""


def scopes_of(name):
    """The scopes around a kernel, outermost first."""
    parts = [part for part in name.split("/") if part]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts) - 1)]


def scope_ranges(kernels):
    """(depth, scope, begin, end) of `kernels`: (name, begin, end) of one thread, by time."""
    done = []
    open_scopes = []  # [scope, begin, end], outermost first
    for name, begin, end in kernels:
        scopes = scopes_of(name)
        common = 0
        while (
            common < min(len(scopes), len(open_scopes))
            and open_scopes[common][0] == scopes[common]
        ):
            open_scopes[common][2] = end
            common += 1
        done.extend(_closed(open_scopes, common))
        open_scopes.extend([scope, begin, end] for scope in scopes[common:])
    done.extend(_closed(open_scopes, 0))
    return sorted(done, key=lambda scope: (scope[2], scope[0]))


def _closed(open_scopes, depth):
    closed = [(at, *scope) for at, scope in enumerate(open_scopes) if at >= depth]
    del open_scopes[depth:]
    return closed
