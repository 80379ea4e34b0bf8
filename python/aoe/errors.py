"""What goes wrong with models and their inputs, under ONNX Runtime's names.

Each is an exception of Python's own as well, so that a program may catch either. The module
aoe.capi.onnxruntime_pybind11_state has them where programs written for ONNX Runtime look.
"""


class Fail(RuntimeError):
    """A model cannot be compiled, or a run failed."""


class InvalidArgument(ValueError):
    """A name, a shape or a type that the model does not have."""


class WrongType(InvalidArgument, TypeError):
    """An array whose elements are of another type than the model's input."""


class InvalidProtobuf(ValueError):
    """No ONNX model, or a damaged one."""


class NoSuchFile(FileNotFoundError):
    """There is no such model."""


class NotImplemented(Fail, NotImplementedError):  # pylint: disable=redefined-builtin
    """What compiled models cannot have, such as operators of a library."""


class ModelLoadCanceled(Fail):
    """SessionOptions.set_load_cancellation_flag()."""


# Nothing here raises these; a program that catches them has to find them.


class EngineError(Fail):
    pass


class EPFail(Fail):
    pass


class InvalidGraph(Fail):
    pass


class ModelLoaded(Fail):
    pass


class ModelRequiresCompilation(Fail):
    pass


class NoModel(Fail):
    pass


class NotFound(Fail):
    pass


class RuntimeException(Fail):
    pass
