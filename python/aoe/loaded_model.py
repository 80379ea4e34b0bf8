"""LoadedModel: an om in the runtime, through pyACL."""

import contextlib
import dataclasses
import pathlib
import threading
import typing

import numpy

from . import acl_library
from .profiler.framework import recorder

_GEAR_INPUT = "ascend_mbatch_shape_data"
# aclDataType; numpy has no bfloat16, whose bits are taken
_DTYPES = {
    0: numpy.float32,
    1: numpy.float16,
    2: numpy.int8,
    3: numpy.int32,
    4: numpy.uint8,
    6: numpy.int16,
    7: numpy.uint16,
    8: numpy.uint32,
    9: numpy.int64,
    10: numpy.uint64,
    11: numpy.float64,
    12: numpy.bool_,
    27: numpy.uint16,
}


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output."""

    name: str
    shape: typing.Tuple[int, ...]
    dtype: numpy.dtype
    size: int  #: bytes of its buffer, for the largest gear


class LoadedModel:
    def __init__(self, path):
        self._mdl = acl_library.load().mdl
        self.name = pathlib.Path(path).stem
        self._id, code = self._mdl.load_from_file(path)
        acl_library.check(f"acl.mdl.load_from_file({path})", code)
        self._desc = self._mdl.create_desc()
        acl_library.check("acl.mdl.get_desc", self._mdl.get_desc(self._desc, self._id))
        mdl = self._mdl
        ports = self._ports(
            mdl.get_num_inputs, mdl.get_input_name_by_index, mdl.get_input_dims,
            mdl.get_input_data_type, mdl.get_input_size_by_index,
        )  # fmt: skip
        self._gear_port = next((port for port in ports if port.name == _GEAR_INPUT), None)
        self._gear_lock = threading.Lock()
        self.inputs = [port for port in ports if port.name != _GEAR_INPUT]
        self.outputs = self._ports(
            mdl.get_num_outputs, mdl.get_output_name_by_index, mdl.get_output_dims,
            mdl.get_output_data_type, mdl.get_output_size_by_index,
        )  # fmt: skip

    def unload(self):
        self._mdl.destroy_desc(self._desc)
        acl_library.check("acl.mdl.unload", self._mdl.unload(self._id))

    @contextlib.contextmanager
    def execution(self, feeds):
        """An Execution with these arrays as inputs; its buffers are gone afterwards. Those with
        gears follow each other, as the shapes of outputs are those of the model's last one."""
        with self._gear_lock if self._gear_port else contextlib.nullcontext():
            execution = Execution(self, feeds)
            try:
                yield execution
            finally:
                execution.close()

    def _ports(self, count, name_of, dims_of, type_of, size_of):
        ports = []
        for index in range(count(self._desc)):
            dims, code = dims_of(self._desc, index)
            acl_library.check("acl.mdl.get_*_dims", code)
            data_type = type_of(self._desc, index)
            if data_type not in _DTYPES:
                raise TypeError(f"{self.name}: numpy has nothing like data type {data_type}")
            ports.append(
                Port(
                    name_of(self._desc, index),
                    tuple(dims["dims"]),
                    numpy.dtype(_DTYPES[data_type]),
                    size_of(self._desc, index),
                )
            )
        return ports


class Execution:
    """One execution: datasets over numpy's own memory, which host and device share here."""

    def __init__(self, model, feeds):
        self._acl = acl_library.load()
        self._model = model
        self._buffers = []
        self._feeds = list(feeds)
        if model._gear_port:
            self._feeds.append(numpy.zeros(model._gear_port.size, numpy.uint8))
        self._results = [numpy.empty(max(port.size, 1), numpy.uint8) for port in model.outputs]
        self._inputs = self._dataset(self._feeds)
        self._outputs = self._dataset(self._results)

    def run(self):
        if self._model._gear_port:
            self._choose_gear()
        code = self._acl.mdl.execute(self._model._id, self._inputs, self._outputs)
        acl_library.check("acl.mdl.execute", code)

    def results(self):
        """An array for each output, which belong to the caller."""
        arrays = []
        for index, (port, memory) in enumerate(zip(self._model.outputs, self._results)):
            with recorder.range("Fetch", "dataset", stage=port.name, bytes=port.size):
                shape = self._shape_of(index, port)
                count = int(numpy.prod(shape, dtype=numpy.int64)) * port.dtype.itemsize
                arrays.append(memory[:count].view(port.dtype).reshape(shape))
        return arrays

    def close(self):
        mdl = self._acl.mdl
        for dataset in (self._inputs, self._outputs):
            mdl.destroy_dataset(dataset)
        for buffer in self._buffers:
            self._acl.destroy_data_buffer(buffer)

    def _dataset(self, arrays):
        dataset = self._acl.mdl.create_dataset()
        for array in arrays:
            buffer = self._acl.create_data_buffer(
                self._acl.util.numpy_to_ptr(array), array.nbytes
            )
            self._buffers.append(buffer)
            _, code = self._acl.mdl.add_dataset_buffer(dataset, buffer)
            acl_library.check("acl.mdl.add_dataset_buffer", code)
        return dataset

    def _shape_of(self, index, port):
        if not self._model._gear_port:
            return port.shape
        dims, code = self._acl.mdl.get_cur_output_dims(self._model._desc, index)
        acl_library.check("acl.mdl.get_cur_output_dims", code)
        return tuple(dims["dims"])

    def _choose_gear(self):
        """By the shapes of what is fed."""
        mdl, model = self._acl.mdl, self._model
        place = len(model.inputs)
        varying = [
            have
            for port, array in zip(model.inputs, self._feeds)
            for want, have in zip(port.shape, array.shape)
            if want == -1
        ]
        batches, _ = mdl.get_dynamic_batch(model._desc)
        images, _ = mdl.get_dynamic_hw(model._desc, -1)
        if batches["batchCount"]:
            code = mdl.set_dynamic_batch_size(model._id, self._inputs, place, varying[0])
        elif images["hwCount"]:
            code = mdl.set_dynamic_hw_size(model._id, self._inputs, place, *varying[:2])
        else:
            dims = [size for array in self._feeds[:place] for size in array.shape]
            wanted = {"name": "", "dimCount": len(dims), "dims": dims}
            code = mdl.set_input_dynamic_dims(model._id, self._inputs, place, wanted)
        acl_library.check(f"the gear of {[a.shape for a in self._feeds[:place]]}", code)
