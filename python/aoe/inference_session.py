"""InferenceSession: ONNX models and oms, with the calls of ONNX Runtime's class of that name.

    import aoe as ort
    session = ort.InferenceSession("model.onnx")
    (scores,) = session.run(None, {"x": x})
"""

import collections
import contextlib
import threading
import warnings

import numpy

from . import acl_library, given_model, om_cache, programs
from .compile_options import CompileOptions
from .devices import OrtMemoryInfo, own_ep_device
from .errors import InvalidArgument, ModelLoadCanceled
from .feeds import fed, fitting, put, require_known
from .io_binding import IOBinding, OrtValue
from .loaded_model import LoadedModel
from .loaded_shapes import LoadedShapes
from .open_sizes import OpenSizes
from .profiler.framework import recorder
from .providers import PROVIDER, chosen
from .session_border import (
    border_of_om,
    is_fixed,
    names_agree,
    open_shape,
    require_tensors,
    shape_flag,
    shown_type,
    with_sizes,
    with_types,
)
from .session_options import RunOptions, SessionOptions, require_options
from .texts import TextBook

_ACCEPTED = ("disabled_optimizers", "enable_fallback", "read_config_from_model")  # without effect
_IDLE_USES = 256  # of others, until a shape's om is unloaded, which lies on disk
_OM_MAGIC = b"AOEOM\0\0\1"

ModelMetadata = collections.namedtuple(
    "ModelMetadata",
    "producer_name graph_name domain description graph_description version custom_metadata_map",
)


class NodeArg:
    """An input or output; `shape` has an int, a name, or None for each dimension."""

    def __init__(self, value):
        self.name, self.type, self.shape = value.name, value.type, list(value.shape)

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class InferenceSession:
    """
    path_or_bytes   an ONNX model or an om: a path, or the content
    sess_options    SessionOptions
    providers       names, or (name, options); what there is not is named in a warning
    provider_options   a dict for each provider: the keys of compile_options.KEYS

    An ONNX model whose inputs have fixed shapes is compiled here; another one when a shape comes
    for the first time. What was compiled is found again by the next program (om_cache.py).
    run() may be called by any number of threads.
    """

    def __init__(
        self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **unused
    ):
        for name in unused:
            if name not in _ACCEPTED:
                raise TypeError(f"InferenceSession has no argument {name}")
        require_options(SessionOptions, "sess_options", sess_options)
        self._options = sess_options if sess_options is not None else SessionOptions()
        if self._options._is_cancelled:
            raise ModelLoadCanceled("SessionOptions.set_load_cancellation_flag() is set")
        if not providers and not provider_options:
            providers = self._options._providers
        self._providers = chosen(providers, provider_options)
        own = self._providers.get(PROVIDER, {})
        self._compile_options = CompileOptions.of(own, self._options)
        self._device = acl_library.Device()
        self._is_open = False
        self._profile = None
        acl_library.initialise()
        self._is_open = True
        try:
            self._device.make_current()
            self._open(given_model.checked(path_or_bytes))
        except BaseException:
            self.close()
            raise
        if self._options.optimized_model_filepath:
            self._write_model(self._options.optimized_model_filepath)
        if self._options.enable_profiling:
            from .session_profile import SessionProfile  # the profiler, for those who ask for it

            self._profile = SessionProfile(self._options.profile_file_prefix, PROVIDER)

    def __getstate__(self):
        """A subclass that pickles the path of its model has one of its own."""
        raise TypeError(
            "an InferenceSession cannot be copied or pickled; make one of the same model instead"
        )

    @property
    def _provider_options(self):
        """By this name programs of others print them."""
        return self.get_provider_options()

    def _open(self, path_or_bytes):
        is_om = _begins_as_om(path_or_bytes)
        self._source = None if is_om else given_model.source_of(path_or_bytes, self._options)
        is_quiet = self._options.log_severity_level > 2
        self._cache = om_cache.OmCache(self._compile_options.cache_directory, is_quiet)
        self._model_path = path_or_bytes if isinstance(path_or_bytes, str) else ""
        if is_om:
            self._warn_of_flags()
            self._shapes = LoadedShapes(1, lambda _: LoadedModel(path_or_bytes))
            with self._shapes.use(()) as model:
                self._border = border_of_om(model)
            self._open_inputs = []
            self._open_sizes = OpenSizes(1, 1)
            return
        in_file = self._source.border
        self._border = with_sizes(in_file, self._options)
        require_tensors(self._border)
        self._open_inputs = [
            value
            for value, before in zip(self._border.inputs, in_file.inputs)
            if not is_fixed(before)
        ]
        options = self._compile_options
        idle_uses = _IDLE_USES if self._cache.directory is not None else None
        self._shapes = LoadedShapes(options.most_shapes, self._compiled, idle_uses)
        self._open_sizes = OpenSizes(options.own_shapes, options.most_shapes)
        if all(is_fixed(value) for value in self._open_inputs):
            with self._model(tuple(value.shape for value in self._open_inputs)):
                pass
        else:
            om_cache.check_flags(self._compile_options.flags)

    def _warn_of_flags(self):
        flags = " ".join(self._compile_options.flags)
        if flags:
            warnings.warn(
                f"{flags}: without effect, an om is compiled already. Its threads are those that it"
                " was compiled for; OMP_NUM_THREADS sets others",
                stacklevel=5,
            )

    def _write_model(self, path):
        """For who asks for the optimised one: compiled again it is found in the cache."""
        if self._source is not None:
            self._source.copy_to(path)
        else:
            warnings.warn(f"{path} is not written: an om is optimised already", stacklevel=3)

    # ---- what the model is ----

    def get_inputs(self):
        return [NodeArg(value) for value in self._border.inputs]

    def get_outputs(self):
        return [NodeArg(value) for value in self._border.outputs]

    def get_overridable_initializers(self):
        """None can be overridden: weights are compiled into the model."""
        return []

    def get_modelmeta(self):
        border = self._border
        return ModelMetadata(
            border.producer_name,
            border.graph_name,
            border.domain,
            border.description,
            border.graph_description,
            border.version,
            dict(border.metadata),
        )

    def get_providers(self):
        """Those that were asked for and are there."""
        return list(self._providers)

    def get_provider_options(self):
        return {
            name: {key: str(value) for key, value in options.items()}
            for name, options in self._providers.items()
        }

    def get_session_options(self):
        return self._options

    def set_providers(self, providers=None, provider_options=None):
        """What get_providers() says from now on; there is one way to run a model."""
        wanted = chosen(providers, provider_options)
        for each in providers or ():
            name = each if isinstance(each, str) else each[0]
            if not name.endswith("ExecutionProvider"):
                raise RuntimeError(f"Unknown Provider Type: {name}")
        self._providers = wanted

    def enable_fallback(self):
        """Nothing to fall back from."""

    def disable_fallback(self):
        """Nothing to fall back from."""

    def end_profiling(self):
        """The name of the file that SessionOptions.enable_profiling asked for; "" without."""
        return self._profile.end() if self._profile is not None else ""

    def get_profiling_start_time_ns(self):
        """Of time.monotonic_ns(); 0 without a profile."""
        return self._profile.start_ns if self._profile is not None else 0

    def get_input_memory_infos(self):
        return [OrtMemoryInfo() for _ in self._border.inputs]

    def get_output_memory_infos(self):
        return [OrtMemoryInfo() for _ in self._border.outputs]

    def get_input_epdevices(self):
        return [own_ep_device() for _ in self._border.inputs]

    # ---- running ----

    def run(self, output_names, input_feed, run_options=None):
        """An array for each name, of str where the model has texts, or a list of dicts where
        ZipMap makes it; of all outputs for None or []. ValueError, TypeError: names, shapes and
        types that the model does not have; programs.ProgramError: what atc says of it.
        """
        with self._execution(output_names, input_feed, run_options) as results:
            arrays = [array for _, array in results]
        outputs = {value.name: value for value in self._border.outputs}
        names = self._wanted(output_names)
        return [_named(outputs[name], array) for name, array in zip(names, arrays)]

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        feed = {name: value.numpy() for name, value in input_dict_ort_values.items()}
        with self._execution(output_names, feed, run_options) as results:
            return [OrtValue(array, kind) for kind, array in results]

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """callback(results, user_data, error text) comes on a thread of its own."""

        def work():
            try:
                results, error = self.run(output_names, input_feed, run_options), ""
            except Exception as failure:  # pylint: disable=broad-except; it is handed over
                results, error = [], str(failure)
            callback(results, user_data, error)

        threading.Thread(target=work, daemon=True).start()

    def io_binding(self):
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        names = iobinding.output_names()
        places = iobinding.places()
        with self._execution(names, iobinding.feed(), run_options, places) as results:
            iobinding.take(results)

    @contextlib.contextmanager
    def _execution(self, output_names, input_feed, run_options, places=None):
        """The (element type, array) of each wanted output."""
        self._require_open()
        require_options(RunOptions, "run_options", run_options)
        if run_options is not None and run_options.terminate:
            raise RuntimeError("run_options.terminate is set: nothing runs")
        self._device.make_current()
        wanted = self._wanted(output_names)
        arrays = self._feeds(input_feed)
        shapes = tuple(arrays[value.name].shape for value in self._open_inputs)
        with self._model(shapes) as model:
            ordered = [arrays[port.name] for port in model.inputs]
            yield self._run(model, ordered, wanted, places or {})

    @contextlib.contextmanager
    def _model(self, shapes):
        """The one that serves these shapes of open inputs, loaded as long as the with lasts."""
        with contextlib.ExitStack() as held:
            is_sound = names_agree(self._open_inputs, shapes)
            key = self._open_sizes.key(shapes) if is_sound else self._all_open(shapes)
            try:
                model = held.enter_context(self._shapes.use(key))
            except programs.ProgramError as error:
                if key == shapes or not is_sound:
                    raise
                self._open_sizes.refuse()
                if self._options.log_severity_level <= 2:
                    warnings.warn(f"each new shape is compiled, as sizes cannot be left open: {error}")
                model = held.enter_context(self._shapes.use(shapes))
            yield model

    def _all_open(self, shapes):
        """For a cache without anything in it that no branch of the run reads, say, whose batch is 0: the
        operators that do run say whether shapes fit.
        """
        return tuple(map(open_shape, self._open_inputs, shapes))

    def _run(self, model, arrays, wanted, places):
        shapes = ";".join(f'"{",".join(map(str, each.shape))}"' for each in arrays)
        book = TextBook(model.texts)
        inputs = [
            book.numbers(array) if port.is_text else array
            for port, array in zip(model.inputs, arrays)
        ]
        names = self._output_names(model)
        rows = [fitting(port, places.get(name)) for port, name in zip(model.outputs, names)]
        with recorder.range(f"InferenceSession.run({model.name})", "call"):
            with model.execution(inputs, rows, book) as execution:
                with recorder.range(model.name, "op", **{"Input Dims": shapes}):
                    execution.run()
                results = execution.results()
        by_name = {}
        for port, name, array in zip(model.outputs, names, results):
            place = places.get(name)
            is_in_place = place is not None and numpy.may_share_memory(place, array)
            kind = shown_type(port)
            array = book.texts(array) if port.is_text else array.view(kind.array_dtype)
            if place is not None and not is_in_place:
                put(port, array, place)
            by_name[name] = (kind, place if place is not None else array)
        return [by_name[name] for name in wanted]

    def _output_names(self, model):
        """Of the ports of `model`, as the ONNX file has them: an input that is an output as well has
        another name as that in an om.
        """
        names = [value.name for value in self._border.outputs]
        return names if len(names) == len(model.outputs) else [port.name for port in model.outputs]

    def _wanted(self, output_names):
        names = [value.name for value in self._border.outputs]
        if isinstance(output_names, str):
            raise TypeError(f"output_names is a list of names: [{output_names!r}]")
        for name in output_names or ():
            require_known("output", name, names)
        return list(output_names or names)

    def _feeds(self, input_feed):
        """{name: dense array of the model's type}"""
        names = [value.name for value in self._border.inputs]
        if not hasattr(input_feed, "items"):
            raise TypeError("input_feed is a dict of arrays by the names of inputs")
        weights = {value.name for value in self._border.overridable}
        for name in input_feed:
            if name in weights:
                raise InvalidArgument(
                    f"{name} is compiled into the model;"
                    " SessionOptions.add_initializer() gives it another value"
                )
            require_known("input", name, names)
        missing = [name for name in names if name not in input_feed]
        if missing:
            raise ValueError(
                f"Required inputs ({missing}) are missing from input feed ({list(input_feed)})"
            )
        return {each.name: fed(each, input_feed[each.name]) for each in self._border.inputs}

    # ---- compiling ----

    def _compiled(self, key):
        """The model for these shapes of its open inputs, loaded."""
        flags = list(self._compile_options.flags)
        if key:
            flags.append(shape_flag(self._open_inputs, key))
        try:
            model = self._load(flags)
        except acl_library.AclError:
            # A file of the cache that is damaged, or that another process took away.
            model = self._load(flags)
        self._border = with_types(self._border, model)
        return model

    def _load(self, flags):
        with self._cache.om(self._source, flags) as path:
            try:
                return LoadedModel(str(path))
            except acl_library.AclError:
                self._cache.forget(path)
                raise

    # ---- its end ----

    def close(self):
        """Unloads the model; so does the end of the object."""
        if not getattr(self, "_is_open", False):
            return
        self._is_open = False
        self.end_profiling()
        if hasattr(self, "_shapes"):
            self._shapes.close()
        acl_library.release()

    def _require_open(self):
        if not self._is_open:
            raise RuntimeError("the InferenceSession is closed")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        with contextlib.suppress(Exception):  # at the end of Python nothing may be left to call
            self.close()


def _begins_as_om(path_or_bytes):
    if isinstance(path_or_bytes, bytes):
        return path_or_bytes.startswith(_OM_MAGIC)
    with open(path_or_bytes, "rb") as file:
        return file.read(len(_OM_MAGIC)) == _OM_MAGIC


def _named(value, array):
    """What an output means to the caller: see `labels` of Value."""
    if not value.labels:
        return array
    return [dict(zip(value.labels, row)) for row in array.tolist()]
