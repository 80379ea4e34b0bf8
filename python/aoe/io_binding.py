"""OrtValue and IOBinding with ONNX Runtime's calls.

The device is this processor: what is bound is numpy's own memory.
"""

import numpy

from . import element_types, texts
from .devices import require_cpu
from .errors import InvalidArgument


class OrtValue:
    """A tensor: an array, and what ONNX calls its type."""

    def __init__(self, array, element_type=None):
        self._array = array
        self._type = element_type or element_types.of_array_type(array.dtype)

    @staticmethod
    def ortvalue_from_numpy(numpy_obj, device_type="cpu", device_id=0, vendor_id=-1):
        """Shares the array's memory where it is dense."""
        require_cpu(device_type, device_id)
        array = numpy.asarray(numpy_obj)
        if array.dtype.kind in "OUS":
            return OrtValue(texts.array_of_texts(array), element_types.TEXT)
        return OrtValue(numpy.ascontiguousarray(array).reshape(array.shape))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data, onnx_element_type):
        """For types that numpy does not have: their bits."""
        return OrtValue(
            numpy.ascontiguousarray(data), element_types.of_array_type(onnx_element_type)
        )

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape, element_type, device_type="cpu", device_id=0, vendor_id=-1
    ):
        """With any content."""
        require_cpu(device_type, device_id)
        kind = element_types.of_array_type(element_type)
        return OrtValue(numpy.empty(shape, kind.array_dtype), kind)

    def numpy(self):
        return self._array

    def shape(self):
        return list(self._array.shape)

    def data_type(self):
        return self._type.text

    def element_type(self):
        return self._type.onnx

    def data_ptr(self):
        return self._array.ctypes.data

    def tensor_size_in_bytes(self):
        return self._array.nbytes

    def device_name(self):
        return "cpu"

    def has_value(self):
        return True

    def is_tensor(self):
        return True

    def is_sparse_tensor(self):
        return False

    def is_tensor_sequence(self):
        return False

    def update_inplace(self, np_arr):
        """New values in the same memory."""
        if np_arr.shape != self._array.shape or np_arr.dtype != self._array.dtype:
            raise ValueError(
                f"an OrtValue of {self._array.shape} and {self._array.dtype} cannot take"
                f" {np_arr.shape} and {np_arr.dtype}"
            )
        numpy.copyto(self._array, np_arr)

    def __array__(self, dtype=None, copy=None):
        wanted = self._array.dtype if dtype is None else numpy.dtype(dtype)
        if copy is False and wanted != self._array.dtype:
            raise ValueError(f"an array of {wanted} would be a copy of this one")
        return self._array.astype(wanted, copy=bool(copy))

    def __dlpack__(self, **keywords):
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class IOBinding:
    """Inputs, and places of outputs, that hold for several runs of a session."""

    def __init__(self, session):
        self._session = session
        self._inputs = {}  # name -> array
        self._outputs = {}  # name -> array to write into, or None: a new one
        self._results = []

    def bind_cpu_input(self, name, arr_on_cpu):
        self._require_known("input", name, self._session.get_inputs())
        self._inputs[name] = arr_on_cpu

    def bind_ortvalue_input(self, name, ortvalue):
        self.bind_cpu_input(name, ortvalue.numpy())

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        """The memory at an address, which has to outlive the binding."""
        require_cpu(device_type, device_id)
        self.bind_cpu_input(name, _array_at(buffer_ptr, element_type, shape))

    def bind_output(
        self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None
    ):
        """Without an address every run gives a new array."""
        require_cpu(device_type, device_id)
        self._require_known("output", name, self._session.get_outputs())
        has_place = buffer_ptr is not None
        self._outputs[name] = _array_at(buffer_ptr, element_type, shape) if has_place else None

    def bind_ortvalue_output(self, name, ortvalue):
        self._require_known("output", name, self._session.get_outputs())
        self._outputs[name] = ortvalue.numpy()

    def synchronize_inputs(self):
        """Nothing is under way."""

    def synchronize_outputs(self):
        """Nothing is under way."""

    def get_outputs(self):
        """An OrtValue for each bound output, of the last run."""
        return [OrtValue(array, kind) for kind, array in self._results]

    def copy_outputs_to_cpu(self):
        """An array for each bound output, of the last run. They are copies where a place was bound:
        the next run writes there."""
        return [
            array.copy() if place is not None else array
            for (_, array), place in zip(self._results, self._outputs.values())
        ]

    def clear_binding_inputs(self):
        self._inputs.clear()

    def clear_binding_outputs(self):
        self._outputs.clear()
        self._results = []

    # ---- for the session ----

    def feed(self):
        return self._inputs

    def output_names(self):
        if not self._outputs:
            raise InvalidArgument("no output is bound: call bind_output() with its name before")
        return list(self._outputs)

    def places(self):
        return {name: place for name, place in self._outputs.items() if place is not None}

    def take(self, results):
        self._results = results

    @staticmethod
    def _require_known(what, name, values):
        names = [value.name for value in values]
        if name not in names:
            raise InvalidArgument(f"Invalid {what} name: {name}; there are {', '.join(names)}")


def _array_at(address, element_type, shape):
    from . import acl_library

    if element_type is None or shape is None:
        raise ValueError("an address is of no use without element_type and shape")
    kind = element_types.of_array_type(element_type)
    if kind.is_text:
        raise TypeError("texts have no address")
    array = acl_library.load().util.ptr_to_numpy(address, list(shape), kind.dtype)
    return array.view(kind.array_dtype)


def copy_tensors(src, dst, stream=None):  # pylint: disable=unused-argument
    """The content of each OrtValue into the other's memory."""
    for source, target in zip(src, dst, strict=True):
        target.update_inplace(source.numpy())
