"""What ONNX Runtime's programs call devices, memory and allocators.

There is one device, this processor.
"""

import dataclasses
import enum
import functools
import typing

from .errors import Fail, InvalidArgument
from .providers import KNOWN, PROVIDER


class OrtAllocatorType(enum.IntEnum):
    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(enum.IntEnum):
    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtMemoryInfoDeviceType(enum.IntEnum):
    CPU = 0
    GPU = 1
    NPU = 2
    FPGA = 3


class OrtDeviceMemoryType(enum.IntEnum):
    DEFAULT = 0
    HOST_ACCESSIBLE = 5


class OrtHardwareDeviceType(enum.IntEnum):
    CPU = 0
    GPU = 1
    NPU = 2


class OrtExecutionProviderDevicePolicy(enum.IntEnum):
    DEFAULT = 0
    PREFER_CPU = 1
    PREFER_NPU = 2
    PREFER_GPU = 3
    MAX_PERFORMANCE = 4
    MAX_EFFICIENCY = 5
    MIN_OVERALL_POWER = 6


@dataclasses.dataclass(frozen=True)
class OrtMemoryInfo:
    """Where a tensor lies: in this process's memory."""

    name: str = "Cpu"
    allocator_type: OrtAllocatorType = OrtAllocatorType.ORT_DEVICE_ALLOCATOR
    device_id: int = 0
    mem_type: OrtMemType = OrtMemType.DEFAULT
    device_mem_type: OrtDeviceMemoryType = OrtDeviceMemoryType.DEFAULT
    device_vendor_id: int = 0

    @staticmethod
    def create_v2(
        name, _device_type, vendor_id, device_id, device_mem_type, _alignment, allocator_type
    ):
        return OrtMemoryInfo(
            name,
            allocator_type,
            device_id,
            device_mem_type=device_mem_type,
            device_vendor_id=vendor_id,
        )


class OrtArenaCfg:
    """How an allocator grows: accepted, as there is none; -1 is the default.

    OrtArenaCfg(max_mem, arena_extend_strategy, initial_chunk_size_bytes, max_dead_bytes_per_chunk),
    or with a dict of these and the two others.
    """

    _NAMES = (
        "max_mem",
        "arena_extend_strategy",
        "initial_chunk_size_bytes",
        "max_dead_bytes_per_chunk",
        "initial_growth_chunk_size_bytes",
        "max_power_of_two_extend_bytes",
    )

    def __init__(self, *values):
        given = values[0] if len(values) == 1 else dict(zip(self._NAMES, values))
        for name in given:
            if name not in self._NAMES:
                raise InvalidArgument(f"Invalid OrtArenaCfg option: {name}")
        for name in self._NAMES:
            setattr(self, name, given.get(name, -1))


def create_and_register_allocator(_memory_info, _arena_cfg=None):
    """Accepted: arrays are numpy's."""


def create_and_register_allocator_v2(_provider, _memory_info, _options=None, _arena_cfg=None):
    """Accepted: arrays are numpy's."""


class OrtDevice:
    """A device by its name and number."""

    def __init__(self, name="cpu", number=0):
        require_cpu(name, number)

    @staticmethod
    def make(ort_device_name, device_id, vendor_id=-1):  # pylint: disable=unused-argument
        return OrtDevice(ort_device_name, device_id)

    def device_id(self):
        return 0

    def device_type(self):
        return int(OrtHardwareDeviceType.CPU)

    def device_vendor_id(self):
        return 0

    def device_mem_type(self):
        return int(OrtDeviceMemoryType.DEFAULT)


@dataclasses.dataclass(frozen=True)
class OrtHardwareDevice:
    type: OrtHardwareDeviceType
    vendor_id: int  #: of PCI; 0: not known
    vendor: str
    device_id: int
    metadata: typing.Dict[str, str]


@dataclasses.dataclass(frozen=True)
class OrtEpDevice:
    """A provider, and the device that it runs models on."""

    ep_name: str
    ep_vendor: str
    ep_metadata: typing.Dict[str, str]
    ep_options: typing.Dict[str, str]
    device: OrtHardwareDevice

    def memory_info(self, _memory_type=OrtDeviceMemoryType.DEFAULT):
        return OrtMemoryInfo()


def get_ep_devices():
    """Each provider with this processor, the one that is preferred first."""
    return [OrtEpDevice(name, "aoe", {}, {}, _processor()) for name in KNOWN]


def own_ep_device():
    return next(each for each in get_ep_devices() if each.ep_name == PROVIDER)


@functools.lru_cache(maxsize=None)
def _processor():
    lines = _cpu_info()
    vendor = lines.get("vendor_id", "")
    number = {"AuthenticAMD": 0x1022, "GenuineIntel": 0x8086}.get(vendor, 0)
    model = {"Description": lines["model name"]} if "model name" in lines else {}
    return OrtHardwareDevice(OrtHardwareDeviceType.CPU, number, vendor, 0, model)


def _cpu_info():
    """What Linux says of the first core."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            first = file.read().split("\n\n", 1)[0]
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in first.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def register_execution_provider_library(registration_name, library_path):
    raise Fail(
        f"{registration_name}: {library_path} cannot be loaded: there is one way to run a model"
    )


def unregister_execution_provider_library(registration_name):
    raise Fail(f"there is no library {registration_name}")


def require_cpu(device_type, device_id):
    if (device_type, device_id) != ("cpu", 0):
        raise InvalidArgument(f"device {device_type}:{device_id}: there is one, cpu:0")
