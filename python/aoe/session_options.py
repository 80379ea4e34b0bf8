"""SessionOptions and RunOptions with ONNX Runtime's names.

Most say how a framework runs graphs, and do nothing here.
"""

import dataclasses
import enum
import operator
import os
import typing

from . import errors


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    DEFAULT = 0
    PRIORITY_BASED = 1


def require_options(kind, name, given):
    """TypeError: what was given instead of None or options of that kind, such as those of a run."""
    if given is not None and not isinstance(given, kind):
        raise TypeError(f"{name} is of type {kind.__name__}, not {given!r}")


def _set_checked(options, name, value):
    """What an attribute cannot mean is a TypeError where it is set, not where a model is compiled."""
    default = type(options).__dataclass_fields__.get(name)
    kind = type(default.default) if default is not None else None
    if kind is str and not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} is a text, not {value!r}")
    if kind is not None and issubclass(kind, int):
        try:
            operator.index(value)
        except TypeError:
            raise TypeError(f"{name} is of type {kind.__name__}, not {value!r}") from None
    object.__setattr__(options, name, value)


@dataclasses.dataclass(slots=True)
class SessionOptions:
    """What counts: `intra_op_num_threads` (models are compiled for so many threads; 0 or less: as
    atc chooses), and sizes of named dimensions, add_free_dimension_override_by_name(). The other
    attributes are there so that programs can set them: a model is compiled as a whole, and always
    with every optimisation."""

    intra_op_num_threads: int = 0
    inter_op_num_threads: int = 0
    graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_ALL
    execution_mode: ExecutionMode = ExecutionMode.ORT_SEQUENTIAL
    execution_order: ExecutionOrder = ExecutionOrder.DEFAULT
    enable_cpu_mem_arena: bool = True
    enable_mem_pattern: bool = True
    enable_mem_reuse: bool = True
    enable_profiling: bool = False
    profile_file_prefix: str = "onnxruntime_profile_"
    optimized_model_filepath: str = ""
    log_severity_level: int = -1
    log_verbosity_level: int = 0
    logid: str = ""
    use_deterministic_compute: bool = False
    use_per_session_threads: bool = True
    _entries: typing.Dict[str, str] = dataclasses.field(default_factory=dict)
    _dimensions: typing.Dict[str, int] = dataclasses.field(default_factory=dict)
    _denotations: typing.Dict[str, int] = dataclasses.field(default_factory=dict)
    _initializers: typing.Dict[str, typing.Any] = dataclasses.field(default_factory=dict)
    _files: typing.Dict[str, bytes] = dataclasses.field(default_factory=dict)
    _providers: typing.List[typing.Any] = dataclasses.field(default_factory=list)
    _is_cancelled: bool = False

    __setattr__ = _set_checked

    def add_session_config_entry(self, key, value):
        self._entries[key] = value

    def get_session_config_entry(self, key):
        if key not in self._entries:
            raise RuntimeError(f"SessionOptions does not have configuration with key: {key}")
        return self._entries[key]

    def add_provider(self, name, options):
        """As if InferenceSession was given it; what it is given is preferred."""
        self._providers.append((name, dict(options)))

    def add_provider_for_devices(self, ep_devices, options):
        """With what get_ep_devices() has."""
        for name in dict.fromkeys(each.ep_name for each in ep_devices):
            self.add_provider(name, options)

    def has_providers(self):
        return bool(self._providers)

    def set_provider_selection_policy(self, _policy):
        """Accepted: there is one device."""

    def set_provider_selection_policy_delegate(self, _delegate):
        """Accepted: there is one device."""

    def set_load_cancellation_flag(self, is_cancelled):
        """A session made with it is a ModelLoadCanceled."""
        object.__setattr__(self, "_is_cancelled", bool(is_cancelled))

    def add_free_dimension_override_by_name(self, name, size):
        """Where all dimensions are known, the model is compiled when the session is made."""
        self._dimensions[name] = size

    def add_free_dimension_override_by_denotation(self, denotation, size):
        """A size given by name is preferred."""
        self._denotations[denotation] = size

    def add_initializer(self, name, value):
        """An OrtValue instead of the model's own; it is compiled into the session's model."""
        self._initializers[name] = value

    def add_external_initializers(self, names, values):
        self._initializers.update(zip(names, values, strict=True))

    def add_external_initializers_from_files_in_memory(self, names, buffers, lengths):
        """The content of files that the model's weights refer to."""
        for name, buffer, length in zip(names, buffers, lengths, strict=True):
            self._files[name] = bytes(buffer[:length])

    def register_custom_ops_library(self, path):
        raise errors.NotImplemented(f"operators of libraries such as {path} cannot be compiled")


@dataclasses.dataclass(slots=True)
class RunOptions:
    """Accepted by run(); nothing in it has an effect, but `terminate` refuses to run."""

    log_severity_level: int = -1
    log_verbosity_level: int = 0
    logid: str = ""
    only_execute_path_to_fetches: bool = False
    terminate: bool = False
    training_mode: bool = False
    _entries: typing.Dict[str, str] = dataclasses.field(default_factory=dict)

    __setattr__ = _set_checked

    def add_run_config_entry(self, key, value):
        self._entries[key] = value

    def get_run_config_entry(self, key):
        return self._entries[key]
