"""A loaded om with buffers for its inputs and outputs, as the examples beside this file use it.

Every call of acl is written out with the check of its code, as a program has to do it.
"""
import acl
import numpy as np

DTYPES = {acl.ACL_FLOAT: np.float32, acl.ACL_FLOAT16: np.float16, acl.ACL_INT32: np.int32,
          acl.ACL_INT64: np.int64, acl.ACL_UINT8: np.uint8, acl.ACL_INT8: np.int8, acl.ACL_BOOL: np.bool_}


def check(call, ret):
    """Ends the program with the reason unless the call's code is 0."""
    if ret != acl.ACL_SUCCESS:
        raise SystemExit(f"{call}: {ret} {acl.get_recent_err_msg()}")


class Om:
    """To be made once acl is initialized and a device is set."""

    def __init__(self, path):
        self.id, ret = acl.mdl.load_from_file(path)
        check("acl.mdl.load_from_file", ret)
        self.desc = acl.mdl.create_desc()
        check("acl.mdl.get_desc", acl.mdl.get_desc(self.desc, self.id))
        self.inputs = self._dataset(acl.mdl.get_num_inputs(self.desc), acl.mdl.get_input_size_by_index)
        self.outputs = self._dataset(acl.mdl.get_num_outputs(self.desc), acl.mdl.get_output_size_by_index)

    def _dataset(self, count, size_of):
        """One data buffer in device memory for each input or output."""
        dataset = acl.mdl.create_dataset()
        for index in range(count):
            size = size_of(self.desc, index)
            memory, ret = acl.rt.malloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
            check("acl.rt.malloc", ret)
            _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(memory, size))
            check("acl.mdl.add_dataset_buffer", ret)
        return dataset

    def input_kind(self, index):
        """Shape and dtype."""
        dims, ret = acl.mdl.get_input_dims(self.desc, index)
        check("acl.mdl.get_input_dims", ret)
        return dims["dims"], DTYPES[acl.mdl.get_input_data_type(self.desc, index)]

    def set_input(self, index, array):
        shape, dtype = self.input_kind(index)
        if list(array.shape) != shape or array.dtype != dtype:
            raise SystemExit(f"input {index} is {array.dtype} {list(array.shape)}, the model takes "
                             f"{np.dtype(dtype)} {shape}")
        content = array.tobytes()
        buffer = acl.mdl.get_dataset_buffer(self.inputs, index)
        check("acl.rt.memcpy", acl.rt.memcpy(
            acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size_v2(buffer),
            acl.util.bytes_to_ptr(content), len(content), acl.ACL_MEMCPY_HOST_TO_DEVICE))

    def set_random_inputs(self, seed=0):
        numbers = np.random.default_rng(seed)
        for index in range(acl.mdl.get_num_inputs(self.desc)):
            shape, dtype = self.input_kind(index)
            self.set_input(index, numbers.random(shape).astype(dtype))

    def execute(self):
        check("acl.mdl.execute", acl.mdl.execute(self.id, self.inputs, self.outputs))

    def get_output(self, index):
        """A copy."""
        dims, ret = acl.mdl.get_cur_output_dims(self.desc, index)
        check("acl.mdl.get_cur_output_dims", ret)
        array = np.empty(dims["dims"], DTYPES[acl.mdl.get_output_data_type(self.desc, index)])
        buffer = acl.mdl.get_dataset_buffer(self.outputs, index)
        check("acl.rt.memcpy", acl.rt.memcpy(
            acl.util.numpy_to_ptr(array), array.nbytes, acl.get_data_buffer_addr(buffer), array.nbytes,
            acl.ACL_MEMCPY_DEVICE_TO_HOST))
        return array

    def unload(self):
        for dataset in (self.inputs, self.outputs):
            for index in range(acl.mdl.get_dataset_num_buffers(dataset)):
                buffer = acl.mdl.get_dataset_buffer(dataset, index)
                check("acl.rt.free", acl.rt.free(acl.get_data_buffer_addr(buffer)))
                check("acl.destroy_data_buffer", acl.destroy_data_buffer(buffer))
            check("acl.mdl.destroy_dataset", acl.mdl.destroy_dataset(dataset))
        check("acl.mdl.destroy_desc", acl.mdl.destroy_desc(self.desc))
        check("acl.mdl.unload", acl.mdl.unload(self.id))
