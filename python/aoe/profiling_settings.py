"""profiling_mode and profiling_options of a Session, handed to the runtime.

The runtime reads and checks PROFILING_MODE and PROFILING_OPTIONS when it is initialised; what a
script says beats what they hold, but for the mode `dynamic`.
"""

import contextlib
import json
import os

from . import acl_library

_MODE, _OPTIONS = "PROFILING_MODE", "PROFILING_OPTIONS"
_MODES = {True: "true", False: "false"}


def initialise(mode, options):
    """acl.init() with these settings; AclError when the runtime refuses them, RuntimeError when it
    was initialised before, and so without them. `options`: the text of JSON, or a dict."""
    settings = _settings(mode, options)
    with _environment(settings):
        is_first = acl_library.initialise()
    if not is_first and settings.get(_MODE) == "true":
        acl_library.release()
        raise RuntimeError(
            "profiling_mode: the runtime is initialised already, by acl.init() or another Session;"
            " what is profiled is decided there. Make this Session first, or close the other"
        )


def _settings(mode, options):
    if os.environ.get(_MODE) == "dynamic" or mode is None:
        if options is not None and mode is None:
            raise ValueError("profiling_options have no effect without profiling_mode=True")
        return {}
    if isinstance(mode, str) and mode in ("true", "false", "dynamic"):
        text = mode
    elif isinstance(mode, bool):
        text = _MODES[mode]
    else:
        raise ValueError(f"profiling_mode must be True, False or 'dynamic', not {mode!r}")
    if options is None:
        options_text = ""
    elif isinstance(options, str):
        options_text = options
    elif isinstance(options, dict):
        options_text = json.dumps(options)
    else:
        raise TypeError(f"profiling_options must be JSON or a dict, not {options!r}")
    return {_MODE: text, _OPTIONS: options_text}


@contextlib.contextmanager
def _environment(settings):
    """Variables as given inside; an empty one is not set."""
    before = {name: os.environ.get(name) for name in settings}
    _put(settings)
    try:
        yield
    finally:
        _put(before)


def _put(variables):
    for name, value in variables.items():
        if value:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)
