"""The words in which a program says what to collect."""

import enum


class ProfilerLevel(enum.Enum):
    """How much is collected: each level adds to the one before."""

    LevelNone = "LevelNone"  #: stamps of the program alone; needs mstx
    Level0 = "Level0"  #: times of ops
    Level1 = "Level1"  #: calls of AscendCL, shapes and formats, metrics
    Level2 = "Level2"  #: what an execution launches, ops on the reference path


class ProfilerActivity(enum.Enum):
    CPU = "CPU"  #: what the Python program does
    NPU = "NPU"  #: what the device does; here it is the processor itself
    GPU = "GPU"  #: accepted; there is none


class AicoreMetrics(enum.Enum):
    """Groups of hardware counters. The value is the name that msprof and acl.json use."""

    AiCoreNone = "None"
    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    ResourceConflictRatio = "ResourceConflictRatio"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"


class ExportType(enum.Enum):
    Text = "text"  #: CSV and JSON
    Db = "db"  #: one SQLite database


class HostSystem(enum.Enum):
    """System data of the host."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"
