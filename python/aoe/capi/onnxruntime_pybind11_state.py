"""The exceptions, and the classes that ONNX Runtime has in C++."""

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
from ..inference_session import InferenceSession, ModelMetadata, NodeArg
from ..io_binding import OrtValue
from ..io_binding import IOBinding as SessionIOBinding
from ..providers import get_all_providers, get_available_providers, get_device
from ..session_options import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    RunOptions,
    SessionOptions,
)
