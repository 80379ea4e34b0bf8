"""The classes that ONNX Runtime has in Python."""

# pylint: disable=unused-import
from ..inference_session import InferenceSession
from ..io_binding import IOBinding, OrtValue
