"""ProfilerOptions: the arguments of a Profiler, checked and made to fit each other.

Nothing is refused: a value of the wrong type is replaced by the default, and what does not fit is
switched off, each with a warning that names it.
"""

import dataclasses
import difflib
import os
import typing

from . import unavailable
from .enums import AicoreMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel
from .log import logger
from .schedule import Schedule


def _is_list_of(kind):
    return lambda value: (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and all(isinstance(each, kind) for each in value)
    )


def _is_a(kind):
    return lambda value: isinstance(value, kind)


def _is_string_list(value):
    return isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value)


@dataclasses.dataclass(frozen=True)
class _Argument:
    default: typing.Any
    is_valid: typing.Callable[[typing.Any], bool]
    expected: str


def _flag(default):
    return _Argument(default, _is_a(bool), "True or False")


_BOTH = (ProfilerActivity.CPU, ProfilerActivity.NPU)
_ARGUMENTS = {
    "start_profile": _flag(True),
    "output_path": _Argument("./data", lambda v: isinstance(v, (str, os.PathLike)), "a path"),
    "profiler_level": _Argument(ProfilerLevel.Level0, _is_a(ProfilerLevel), "a ProfilerLevel"),
    "activities": _Argument(_BOTH, _is_list_of(ProfilerActivity), "a list of ProfilerActivity"),
    "schedule": _Argument(None, lambda v: v is None or _is_schedule(v), "a schedule() or None"),
    "on_trace_ready": _Argument(None, lambda v: v is None or callable(v), "a function or None"),
    "profile_memory": _flag(False),
    "aicore_metrics": _Argument(
        AicoreMetrics.AiCoreNone, _is_a(AicoreMetrics), "one of AicoreMetrics"
    ),
    "with_stack": _flag(False),
    "record_shapes": _flag(False),
    "data_simplification": _flag(True),
    "l2_cache": _flag(False),
    "hbm_ddr": _flag(False),
    "pcie": _flag(False),
    "data_process": _flag(False),
    "parallel_strategy": _flag(False),
    "sync_enable": _flag(True),
    "mstx": _flag(False),
    "mstx_domain_include": _Argument((), _is_string_list, "a list of strings"),
    "mstx_domain_exclude": _Argument((), _is_string_list, "a list of strings"),
    "export_type": _Argument(
        (ExportType.Text,), _is_list_of(ExportType), "a list of ExportType"
    ),
    "sys_io": _flag(False),
    "sys_interconnection": _flag(False),
    "host_sys": _Argument(
        (), lambda v: v in ([], ()) or _is_list_of(HostSystem)(v), "a list of HostSystem"
    ),
}
_ALIASES = {"aic_metrics": "aicore_metrics"}
_DEPRECATED = {
    "profile_communication": "use profiler_level=ProfilerLevel.Level1 or Level2",
    "op_time": "use activities=[ProfilerActivity.NPU]",
    "profile_framework": "use activities=[ProfilerActivity.CPU]",
    "host_stack": "use with_stack=True",
    "timeline_limit": "the timeline has no limit",
}


def _is_schedule(value):
    """A Schedule, or a function of the program's own from steps to actions."""
    return isinstance(value, Schedule) or callable(value)


class ProfilerOptions:
    """One attribute for each argument; see the table above for their names and defaults."""

    def __init__(self, arguments):
        for name, argument in _ARGUMENTS.items():
            setattr(self, name, argument.default)
        for name, value in arguments.items():
            self._take(name, value)
        self._say_what_does_nothing(arguments)
        self._make_fit()

    @property
    def collects_cpu(self):
        return ProfilerActivity.CPU in self.activities

    @property
    def collects_npu(self):
        return ProfilerActivity.NPU in self.activities

    def to_dict(self):
        """As profiler_info_0.json has it: enums by name, functions by what they are called."""
        return {name: _plain(getattr(self, name)) for name in _ARGUMENTS}

    def _take(self, name, value):
        name = _ALIASES.get(name, name)
        if name in _DEPRECATED:
            logger.warning("%s is deprecated and has no effect: %s", name, _DEPRECATED[name])
            return
        argument = _ARGUMENTS.get(name)
        if argument is None:
            near = difflib.get_close_matches(name, list(_ARGUMENTS) + list(_ALIASES), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            logger.warning("Profiler has no argument %s: it has no effect%s", name, hint)
        elif not argument.is_valid(value):
            logger.warning(
                "%s must be %s, not %r; the default, %s, is taken",
                name,
                argument.expected,
                value,
                _plain(argument.default),
            )
        else:
            setattr(self, name, tuple(value) if isinstance(value, list) else value)

    def _say_what_does_nothing(self, arguments):
        for name in unavailable.REASONS:
            asked = bool(getattr(self, name, False))
            if name == "sync_enable":  # on by default, so that only naming it is asking for it
                asked = name in arguments
            if asked:
                unavailable.say(name)
        if ProfilerActivity.GPU in self.activities:
            unavailable.say("ProfilerActivity.GPU")
        for system in self.host_sys:
            if f"HostSystem.{system.name}" in unavailable.REASONS:
                unavailable.say(f"HostSystem.{system.name}")

    def _make_fit(self):
        """In this order: levels decide about metrics, activities about what is left."""
        if self.schedule is not None and self.data_process:
            self._switch_off("data_process", "a schedule is set")
        if self.profiler_level is ProfilerLevel.LevelNone and not self.mstx:
            logger.warning("profiler_level=LevelNone needs mstx=True; Level0 is taken")
            self.profiler_level = ProfilerLevel.Level0
        has_metrics = self.aicore_metrics is not AicoreMetrics.AiCoreNone
        if self.profiler_level in (ProfilerLevel.LevelNone, ProfilerLevel.Level0):
            if has_metrics:
                logger.warning(
                    "aicore_metrics=%s needs profiler_level Level1 or Level2; none are collected",
                    self.aicore_metrics.name,
                )
                self.aicore_metrics = AicoreMetrics.AiCoreNone
        elif not has_metrics:
            self.aicore_metrics = AicoreMetrics.PipeUtilization
        elif not self.collects_npu:
            logger.warning("aicore_metrics need ProfilerActivity.NPU; none are collected")
        if not self.collects_npu:
            self.aicore_metrics = AicoreMetrics.AiCoreNone
        if not (self.collects_cpu and self.collects_npu):
            for name in ("profile_memory", "record_shapes"):
                self._switch_off(name, "it needs the activities CPU and NPU")
        if not self.collects_cpu:
            self._switch_off("with_stack", "it needs ProfilerActivity.CPU")

    def _switch_off(self, name, why):
        if getattr(self, name):
            logger.warning("%s is switched off: %s", name, why)
            setattr(self, name, False)


def _plain(value):
    if isinstance(value, Schedule):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if hasattr(value, "name") and hasattr(value, "value"):
        return value.name
    if value is None or isinstance(value, (bool, int, float, str, dict)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return getattr(value, "__qualname__", type(value).__name__)


_ENUMS = {
    "profiler_level": ProfilerLevel,
    "activities": ProfilerActivity,
    "aicore_metrics": AicoreMetrics,
    "export_type": ExportType,
    "host_sys": HostSystem,
}


def from_dict(plain):
    """The reverse of to_dict(), for an analysis; functions and schedules stay as they are there."""
    options = ProfilerOptions.__new__(ProfilerOptions)
    for name, argument in _ARGUMENTS.items():
        value = plain.get(name, argument.default)
        kind = _ENUMS.get(name)
        if kind is not None and isinstance(value, list):
            value = tuple(kind[each] for each in value)
        elif kind is not None and isinstance(value, str):
            value = kind[value]
        setattr(options, name, value)
    return options
