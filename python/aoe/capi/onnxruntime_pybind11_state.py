"""The exceptions, and all that the package has, much of which ONNX Runtime has in C++."""

import aoe

# pylint: disable=unused-import, redefined-builtin
from ..errors import (
    EngineError,
    EPFail,
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    ModelLoadCanceled,
    ModelLoaded,
    ModelRequiresCompilation,
    NoModel,
    NoSuchFile,
    NotFound,
    NotImplemented,
    RuntimeException,
)
from ..io_binding import IOBinding as SessionIOBinding


def __getattr__(name):
    """What else the package has."""
    return getattr(aoe, name)
