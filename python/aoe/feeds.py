"""Arrays on their way into and out of a model."""

import difflib

import numpy

from . import element_types, texts
from .errors import InvalidArgument, WrongType
from .io_binding import OrtValue
from .profiler.framework import recorder


def fed(value, given):
    """`given` as the model wants it; the same memory where it is dense."""
    if isinstance(given, OrtValue):
        given = given.numpy()
    kind = value.element_type
    if not isinstance(given, (numpy.ndarray, numpy.generic)):
        given = numpy.asarray(given, dtype=None if kind.is_text else kind.array_dtype)
    array = numpy.asarray(given)
    if kind.is_text and array.dtype.kind in "OUST":
        array = texts.array_of_texts(array)
    if array.dtype not in (kind.dtype, kind.array_dtype):
        has = _type_text(array.dtype)
        raise WrongType(
            f"Unexpected input data type of {value.name}: it is {has}, expected {kind.text}"
        )
    fits = not value.has_rank or (
        len(array.shape) == len(value.shape)
        and all(
            not isinstance(want, int) or want == have
            for want, have in zip(value.shape, array.shape)
        )
    )
    if not fits:
        raise InvalidArgument(
            f"Got invalid dimensions for input {value.name}: {list(array.shape)}, expected"
            f" {list(value.shape)}"
        )
    with recorder.range("Feed", "dataset", stage=value.name, bytes=array.nbytes):
        return numpy.ascontiguousarray(array).reshape(array.shape).view(kind.dtype)


def _type_text(dtype):
    try:
        return element_types.of_array_type(dtype).text
    except TypeError:
        return str(dtype)


def fitting(port, place):
    """`place` as the memory that the run writes, None where its results must be copied there."""
    is_usable = (
        place is not None
        and not port.is_text
        and -1 not in port.shape
        and place.shape == tuple(port.shape)
        and place.flags.c_contiguous
        and place.nbytes == port.size
        and port.size > 0
    )
    return place if is_usable else None


def put(port, array, place):
    if place.shape != array.shape:
        raise InvalidArgument(
            f"output {port.name} is {list(array.shape)}, but is bound to {list(place.shape)}"
        )
    numpy.copyto(place if port.is_text else place.view(array.dtype), array)


def require_known(what, name, names):
    if name in names:
        return
    raise InvalidArgument(f"Invalid {what} name: {name}{hint_for(name, names)}")


def hint_for(name, names):
    """What may have been meant, as the end of a message."""
    near = difflib.get_close_matches(str(name), names, 1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(names)}"
