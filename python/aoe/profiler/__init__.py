"""Profiling from inside a Python program, in the manner of MindSpore's Profiler.

See docs/profiler_class.md.
"""

from .enums import AicoreMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel
from .profile import _ExperimentalConfig, profile
from .profiler import Profiler
from .schedule import ProfilerAction, Schedule, schedule
from .trace_handler import tensor_board_trace_handler, tensorboard_trace_handler

__all__ = [
    "AicoreMetrics",
    "ExportType",
    "HostSystem",
    "Profiler",
    "ProfilerAction",
    "ProfilerActivity",
    "ProfilerLevel",
    "Schedule",
    "_ExperimentalConfig",
    "profile",
    "schedule",
    "tensor_board_trace_handler",
    "tensorboard_trace_handler",
]
