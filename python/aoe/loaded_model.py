"""LoadedModel: an om in the runtime, through pyACL."""

import contextlib
import dataclasses
import itertools
import math
import pathlib
import threading
import typing

import numpy

from . import acl_library, element_types
from .profiler.framework import recorder
from .texts import TextList

_ACL_FORMAT_ND = 2
_GEAR_INPUT = "ascend_mbatch_shape_data"


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output."""

    name: str
    shape: typing.Tuple[int, ...]
    element_type: element_types.ElementType
    size: int  #: bytes of its buffer, for the largest gear; 0: only a run can tell
    is_text: bool = False  #: int64 places in the model's list of texts

    @property
    def dtype(self):
        return self.element_type.dtype


def is_open(port):
    """Whether only a run can tell its size; sizes that gears vary are known before."""
    return port.size == 0 and any(size < 0 for size in port.shape)


class LoadedModel:
    def __init__(self, path_or_bytes, name="model"):
        """`name`: what an om that is given as bytes is called."""
        self._mdl = acl_library.load().mdl
        if isinstance(path_or_bytes, bytes):
            self.name = name
            place = acl_library.load().util.bytes_to_ptr(path_or_bytes)
            self._id, code = self._mdl.load_from_mem(place, len(path_or_bytes))
            acl_library.check("acl.mdl.load_from_mem", code)
        else:
            self.name = pathlib.Path(path_or_bytes).stem
            self._id, code = self._mdl.load_from_file(path_or_bytes)
            acl_library.check(f"acl.mdl.load_from_file({path_or_bytes})", code)
        self._desc = self._mdl.create_desc()
        acl_library.check("acl.mdl.get_desc", self._mdl.get_desc(self._desc, self._id))
        mdl = self._mdl
        ports = self._ports(
            mdl.get_num_inputs, mdl.get_input_name_by_index, mdl.get_input_dims,
            mdl.get_input_data_type, mdl.get_input_size_by_index, mdl.is_input_text,
        )  # fmt: skip
        self._gear_port = next((port for port in ports if port.name == _GEAR_INPUT), None)
        self._gear_lock = threading.Lock()
        self.inputs = [port for port in ports if port.name != _GEAR_INPUT]
        self.outputs = self._ports(
            mdl.get_num_outputs, mdl.get_output_name_by_index, mdl.get_output_dims,
            mdl.get_output_data_type, mdl.get_output_size_by_index, mdl.is_output_text,
        )  # fmt: skip
        self.texts = TextList(mdl.get_texts(self._desc))
        self.reads_texts = mdl.reads_texts(self._desc)

    def unload(self):
        self._mdl.destroy_desc(self._desc)
        acl_library.check("acl.mdl.unload", self._mdl.unload(self._id))

    @contextlib.contextmanager
    def execution(self, feeds, places=(), book=None):
        """An Execution with these arrays as inputs; its buffers are gone afterwards. Those with
        gears follow each other, as the shapes of outputs are those of the model's last one.
        `places`: for each output a dense array to write into, or None. `book`: a TextBook that has
        the texts of the inputs, and gets those that are computed."""
        with self._gear_lock if self._gear_port else contextlib.nullcontext():
            execution = Execution(self, feeds, places, book)
            try:
                yield execution
            finally:
                execution.close()

    def _ports(self, count, name_of, dims_of, type_of, size_of, is_text):
        ports = []
        for index in range(count(self._desc)):
            dims, code = dims_of(self._desc, index)
            acl_library.check("acl.mdl.get_*_dims", code)
            data_type = type_of(self._desc, index)
            element_type = element_types.of_acl(data_type)
            if element_type is None:
                raise TypeError(f"{self.name}: numpy has nothing like data type {data_type}")
            ports.append(
                Port(
                    name_of(self._desc, index),
                    tuple(dims["dims"]),
                    element_type,
                    size_of(self._desc, index),
                    is_text(self._desc, index),
                )
            )
        return ports


class Execution:
    """One execution: datasets over numpy's own memory, which host and device share here."""

    def __init__(self, model, feeds, places=(), book=None):
        self._acl = acl_library.load()
        self._model = model
        self._book = book if model.reads_texts else None
        self._buffers = []
        self._feeds = list(feeds)
        if model._gear_port:
            self._feeds.append(numpy.zeros(model._gear_port.size, numpy.uint8))
        self._results = [
            _memory(port, place) for port, place in itertools.zip_longest(model.outputs, places)
        ]
        self._inputs = self._dataset(self._feeds)
        self._outputs = self._dataset(self._results)
        self._tell_shapes()

    def run(self):
        if self._model._gear_port:
            self._choose_gear()
        if self._book is not None:
            self._hand_over_texts()
        code = self._acl.mdl.execute(self._model._id, self._inputs, self._outputs)
        acl_library.check("acl.mdl.execute", code)
        if self._book is not None:
            self._fetch_texts()

    def results(self):
        """An array for each output, which belong to the caller."""
        arrays = []
        for index, (port, memory) in enumerate(zip(self._model.outputs, self._results)):
            with recorder.range("Fetch", "dataset", stage=port.name, bytes=port.size):
                if memory is None:
                    arrays.append(self._allocated(index, port))
                    continue
                shape = self._shape_of(index, port)
                size = math.prod(shape) * port.dtype.itemsize
                arrays.append(memory[:size].view(port.dtype).reshape(shape))
        return arrays

    def close(self):
        mdl = self._acl.mdl
        for dataset in (self._inputs, self._outputs):
            mdl.destroy_dataset(dataset)
        for buffer in self._buffers:
            self._acl.destroy_data_buffer(buffer)

    def _hand_over_texts(self):
        mdl, others = self._acl.mdl, self._book.others()
        code = mdl.set_dataset_texts(self._inputs, self._model._desc)
        acl_library.check("acl.mdl.set_dataset_texts", code)
        _, code = mdl.add_dataset_texts(self._inputs, others)
        acl_library.check("acl.mdl.add_dataset_texts", code)

    def _fetch_texts(self):
        first = len(self._model.texts.texts) + len(self._book.others())
        self._book.add(self._acl.mdl.get_dataset_texts(self._inputs, first))

    def _dataset(self, arrays):
        dataset = self._acl.mdl.create_dataset()
        for array in arrays:
            place = 0 if array is None else self._acl.util.numpy_to_ptr(array)
            buffer = self._acl.create_data_buffer(place, 0 if array is None else array.nbytes)
            self._buffers.append(buffer)
            _, code = self._acl.mdl.add_dataset_buffer(dataset, buffer)
            acl_library.check("acl.mdl.add_dataset_buffer", code)
        return dataset

    def _tell_shapes(self):
        """Of inputs whose sizes are open."""
        for index, port in enumerate(self._model.inputs):
            if not is_open(port):
                continue
            of_port = port.element_type.acl
            desc = self._acl.create_tensor_desc(of_port, self._feeds[index].shape, _ACL_FORMAT_ND)
            _, code = self._acl.mdl.set_dataset_tensor_desc(self._inputs, desc, index)
            self._acl.destroy_tensor_desc(desc)
            acl_library.check("acl.mdl.set_dataset_tensor_desc", code)

    def _allocated(self, index, port):
        """A copy of the output that the run allocated, as only it could tell how large it is."""
        desc = self._acl.mdl.get_dataset_tensor_desc(self._outputs, index)
        shape = []
        for axis in range(self._acl.get_tensor_desc_num_dims(desc)):
            size, code = self._acl.get_tensor_desc_dim_v2(desc, axis)
            acl_library.check("acl.get_tensor_desc_dim_v2", code)
            shape.append(size)
        place = self._acl.get_data_buffer_addr(
            self._acl.mdl.get_dataset_buffer(self._outputs, index)
        )
        if place == 0:
            return numpy.empty(shape, port.dtype)
        array = self._acl.util.ptr_to_numpy(place, shape, port.dtype).copy()
        acl_library.check("acl.rt.free", self._acl.rt.free(place))
        return array

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


def _memory(port, place):
    """Bytes for an output; None where the run allocates them."""
    if place is not None:
        return place.reshape(-1).view(numpy.uint8)
    return None if is_open(port) else numpy.empty(max(port.size, 1), numpy.uint8)
