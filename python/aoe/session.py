"""Session: runs an om, of inference or of a training step, with numpy arrays."""

import os
import warnings

import numpy

from . import acl_library, profiling_settings
from .feeds import hint_for
from .loaded_model import LoadedModel
from .profiler.framework import recorder


class Session:
    """
        with Session("mlp.om") as session:
            loss = session.run("loss", {"x": x, "label": label})

    profiling_mode      True: what runs is collected, from here to close(); also "dynamic": msprof
                        may attach; False: not even if PROFILING_MODE says so
    profiling_options   what is collected, and where it goes: the documented JSON, as text or dict.
                        AclError names a key or value that is not known

    run() may be called by several threads; executions of one model follow each other.
    """

    def __init__(self, model=None, *, profiling_mode=None, profiling_options=None, device_id=None):
        device_id = _device_of_environment() if device_id is None else device_id
        _say_that_nothing_is_tuned()
        self._device = acl_library.Device(device_id)
        self._model = None
        self._is_open = False
        profiling_settings.initialise(profiling_mode, profiling_options)
        self._is_open = True
        try:
            self._device.make_current()
            if model is not None:
                self.load(model)
        except BaseException:
            self.close()
            raise

    def __reduce__(self):
        raise TypeError("a Session cannot be copied or pickled; make one of the same om instead")

    def load(self, path):
        """Takes the om at `path` instead of the one before; the Session itself."""
        self._require_open()
        model = LoadedModel(os.fspath(path))
        if self._model is not None:
            self._model.unload()
        self._model = model
        return self

    @property
    def inputs(self):
        """{name: (shape, numpy dtype)}; a size that gears vary is -1."""
        return {port.name: (port.shape, port.dtype) for port in self._require_model().inputs}

    @property
    def outputs(self):
        return {port.name: (port.shape, port.dtype) for port in self._require_model().outputs}

    def run(self, outputs=None, feed_dict=None):
        """One execution. `outputs`: a name, which gives its array; a list of names, or None for all
        of them, which give a list. `feed_dict`: an array for every input.

        ValueError: names or shapes that the model does not have; TypeError: values that its types
        cannot hold. In a profile every run is an iteration.
        """
        model = self._require_model()
        self._device.make_current()
        names = [port.name for port in model.outputs]
        wanted = [outputs] if isinstance(outputs, str) else names if outputs is None else outputs
        for name in wanted:
            _require_known("output", name, names)
        with recorder.range(f"Session.run({model.name})", "call"):
            feeds = self._feeds(model, feed_dict or {})
            shapes = ";".join(f'"{",".join(map(str, each.shape))}"' for each in feeds)
            with model.execution(feeds) as execution:
                with recorder.range(model.name, "op", **{"Input Dims": shapes}):
                    execution.run()
                results = dict(zip(names, execution.results()))
        return results[outputs] if isinstance(outputs, str) else [results[n] for n in wanted]

    def close(self):
        """Unloads the model; the collection of profiling_mode ends when the last Session is closed.
        Closing twice does nothing."""
        if not self._is_open:
            return
        self._is_open = False
        if self._model is not None:
            self._model.unload()
            self._model = None
        acl_library.release()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _require_open(self):
        if not self._is_open:
            raise RuntimeError("the Session is closed")

    def _require_model(self):
        self._require_open()
        if self._model is None:
            raise RuntimeError("the Session has no model: call load() before")
        return self._model

    def _feeds(self, model, feed_dict):
        names = [port.name for port in model.inputs]
        for name in feed_dict:
            _require_known("input", name, names)
        missing = [name for name in names if name not in feed_dict]
        if missing:
            raise ValueError(f"feed_dict lacks the inputs {', '.join(missing)} of {model.name}")
        return [_fed(port, feed_dict[port.name]) for port in model.inputs]


def _device_of_environment():
    text = os.environ.get("ASCEND_DEVICE_ID", "")
    if text and not text.isdecimal():
        raise ValueError(f"ASCEND_DEVICE_ID={text}: is no number of a device; there is 0")
    return int(text or 0)


def _say_that_nothing_is_tuned():
    """AOE_MODE is of frameworks that compile graphs while they run."""
    mode = os.environ.get("AOE_MODE")
    if mode:
        job = f"aoe --job_type={mode}" if mode in ("1", "2") else "aoe --job_type=1 or 2"
        warnings.warn(f"AOE_MODE={mode} does nothing here: a Session runs oms, which {job} tunes before",
                      stacklevel=3)  # fmt: skip


def _fed(port, value):
    """`value` as the input wants it: its type, its shape, dense; the same array where it is so."""
    given = numpy.asarray(value)
    if not numpy.can_cast(given.dtype, port.dtype, "same_kind"):
        raise TypeError(f"input {port.name} is {port.dtype}, not {given.dtype}")
    fits = len(given.shape) == len(port.shape) and all(
        want in (-1, have) for want, have in zip(port.shape, given.shape)
    )
    if not fits:
        raise ValueError(f"input {port.name} has the shape {port.shape}, not {given.shape}")
    with recorder.range("Feed", "dataset", stage=port.name, bytes=given.nbytes):
        return numpy.ascontiguousarray(given, dtype=port.dtype).reshape(given.shape)


def _require_known(what, name, names):
    if name in names:
        return
    raise ValueError(f"the model has no {what} {name}{hint_for(name, names)}")
