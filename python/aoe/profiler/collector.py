"""Collector: how a profile gets from the runtime into a directory. The seam that tests fake.

The order is init, start, stop, finalize; steps are told in between, at any time.
"""

import typing

from .. import acl_library
from .enums import AicoreMetrics, HostSystem, ProfilerLevel


class Collector(typing.Protocol):
    def init(self, directory, options): ...

    def start(self): ...

    def stop(self): ...

    def finalize(self): ...

    def begin_step(self, number): ...

    def end_step(self): ...


# aclprofAicoreMetrics
_METRICS = {
    AicoreMetrics.ArithmeticUtilization: 0,
    AicoreMetrics.PipeUtilization: 1,
    AicoreMetrics.Memory: 2,
    AicoreMetrics.MemoryL0: 3,
    AicoreMetrics.ResourceConflictRatio: 4,
    AicoreMetrics.MemoryUB: 5,
    AicoreMetrics.L2Cache: 6,
    AicoreMetrics.MemoryAccess: 8,
    AicoreMetrics.AiCoreNone: 0xFF,
}
# dataTypeConfig
_ACL_API = 0x1
_TASK_TIME = 0x2
_AICORE_METRICS = 0x4
_AICPU = 0x8
_MSPROFTX = 0x80
_RUNTIME_API = 0x100
_TASK_TIME_L0 = 0x800
_TASK_MEMORY = 0x1000
_HOST_SYS = 8  # aclprofConfigType
_SYSTEM_OF = {HostSystem.CPU: "cpu", HostSystem.MEM: "mem"}


def data_types(options):
    """The bits of dataTypeConfig that `options` ask for."""
    level = options.profiler_level
    bits = _MSPROFTX if options.mstx else 0
    if level is ProfilerLevel.LevelNone:
        return bits
    if options.collects_npu:
        bits |= _TASK_TIME_L0 if level is ProfilerLevel.Level0 else _TASK_TIME
        if options.aicore_metrics is not AicoreMetrics.AiCoreNone:
            bits |= _AICORE_METRICS
        if level is ProfilerLevel.Level2:
            bits |= _AICPU
    if level in (ProfilerLevel.Level1, ProfilerLevel.Level2):
        bits |= _ACL_API
    if level is ProfilerLevel.Level2:
        bits |= _RUNTIME_API
    if options.profile_memory:
        bits |= _TASK_MEMORY
    return bits


class AclCollector:
    """Collects through acl.prof. With nothing to collect there (the Python side alone is asked for)
    it does nothing."""

    def __init__(self):
        self._acl = None
        self._config = 0
        self._step_info = 0
        self._bits = 0

    def init(self, directory, options):
        self._bits = data_types(options)
        if self._bits == 0:
            return
        self._acl = acl_library.load()
        acl_library.initialise()
        try:
            self._configure(directory, options)
        except BaseException:
            self._bits = 0
            acl_library.release()
            raise

    def _configure(self, directory, options):
        prof = self._acl.prof
        acl_library.check("acl.prof.init", prof.init(str(directory)))
        systems = ",".join(_SYSTEM_OF[s] for s in options.host_sys if s in _SYSTEM_OF)
        if systems:
            acl_library.check("acl.prof.set_config", prof.set_config(_HOST_SYS, systems))
        self._config = prof.create_config([0], _METRICS[options.aicore_metrics], 0, self._bits)
        if self._config == 0:
            prof.finalize()
            raise acl_library.AclError("acl.prof.create_config", 100000)

    def start(self):
        if self._bits:
            acl_library.check("acl.prof.start", self._acl.prof.start(self._config))

    def stop(self):
        if self._bits:
            acl_library.check("acl.prof.stop", self._acl.prof.stop(self._config))

    def finalize(self):
        if not self._bits:
            return
        prof = self._acl.prof
        code = prof.finalize()
        prof.destroy_config(self._config)
        self._bits = self._config = 0
        acl_library.release()
        acl_library.check("acl.prof.finalize", code)

    def begin_step(self, number):
        """The number is of the Python side; the runtime counts its own."""
        if self._bits:
            self._step_info = self._acl.prof.create_step_info()
            self._mark_step(0)

    def end_step(self):
        if self._step_info:
            self._mark_step(1)
            self._acl.prof.destroy_step_info(self._step_info)
            self._step_info = 0

    def _mark_step(self, tag):
        self._acl.prof.get_step_timestamp(self._step_info, tag, 0)
