"""The types of tensors: what ONNX, ONNX Runtime, AscendCL and numpy call each of them."""

import dataclasses
import functools

import numpy


@dataclasses.dataclass(frozen=True)
class ElementType:
    acl: int  #: aclDataType
    onnx: int  #: TensorProto.DataType
    name: str  #: as ONNX Runtime has it in "tensor(float)"
    dtype: numpy.dtype  #: numpy's own; of bfloat16 that of its bits

    @property
    def is_text(self):
        """Of arrays of str, which the runtime gets as places in a list (texts.py)."""
        return self.name == "string"

    @property
    def text(self):
        return f"tensor({self.name})"

    @property
    def array_dtype(self):
        """What arrays of it are: as `dtype`, but bfloat16 where ml_dtypes is installed."""
        return _bfloat16() or self.dtype if self.name == "bfloat16" else self.dtype


_TABLE = [
    ElementType(acl, onnx, name, numpy.dtype(dtype))
    for acl, onnx, name, dtype in (
        (0, 1, "float", numpy.float32),
        (1, 10, "float16", numpy.float16),
        (2, 3, "int8", numpy.int8),
        (3, 6, "int32", numpy.int32),
        (4, 2, "uint8", numpy.uint8),
        (6, 5, "int16", numpy.int16),
        (7, 4, "uint16", numpy.uint16),
        (8, 12, "uint32", numpy.uint32),
        (9, 7, "int64", numpy.int64),
        (10, 13, "uint64", numpy.uint64),
        (11, 11, "double", numpy.float64),
        (12, 9, "bool", numpy.bool_),
        (13, 8, "string", object),
        (27, 16, "bfloat16", numpy.uint16),
    )
]
TEXT = next(each for each in _TABLE if each.is_text)
_BY_ACL = {each.acl: each for each in _TABLE}
_BY_ONNX = {each.onnx: each for each in _TABLE}


def of_acl(number):
    """None: numpy has nothing like it."""
    return _BY_ACL.get(number)


def of_onnx(number):
    """None: numpy has nothing like it."""
    return _BY_ONNX.get(number)


def of_array_type(wanted):
    """Of a numpy type, ONNX's number or "tensor(float)". TypeError."""
    if isinstance(wanted, int):
        found = _BY_ONNX.get(wanted)
    elif isinstance(wanted, str) and wanted.startswith("tensor("):
        found = next((each for each in _TABLE if each.text == wanted), None)
    else:
        dtype = numpy.dtype(wanted)
        if _bfloat16() is not None and dtype == _bfloat16():
            return _BY_ONNX[16]
        found = next((each for each in _TABLE if each.dtype == dtype), None)
    if found is None:
        raise TypeError(f"{wanted!r} is no type of elements that tensors can have here")
    return found


@functools.lru_cache(maxsize=None)
def _bfloat16():
    try:
        import ml_dtypes
    except ImportError:
        return None
    return numpy.dtype(ml_dtypes.bfloat16)
