"""The classes that ONNX Runtime has in Python."""

# pylint: disable=unused-import
from ..devices import OrtDevice
from ..inference_session import InferenceSession, NodeArg
from ..io_binding import IOBinding, OrtValue

Session = InferenceSession  # its base, by which programs ask for the kind of an object
