"""What the Python tests share: oms made by the real programs, and a loaded model with its buffers."""
import csv
import glob
import os
import subprocess
import sys
import tempfile
import unittest

import acl
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # onnx_writer

DTYPES = {acl.ACL_FLOAT: np.float32, acl.ACL_INT64: np.int64, acl.ACL_INT32: np.int32}


def run(*command, cwd):
    """Runs a program of ours; its output is in the failure."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def make_om(folder, *atc_flags, network="squeezenet", make_flags=("--small", "--image=32")):
    """The path of a fresh om."""
    onnx = os.path.join(folder, "made.onnx")
    run("make_model", network, f"--output={onnx}", *make_flags, cwd=folder)
    return compile_om(folder, onnx, *atc_flags)


def compile_om(folder, onnx, *atc_flags):
    before = set(os.listdir(folder))
    run("atc", "--framework=5", f"--model={onnx}", "--output=compiled", *atc_flags, cwd=folder)
    made = [name for name in set(os.listdir(folder)) - before if name.endswith(".om")]
    path = os.path.join(folder, made[0])
    unique = tempfile.mkstemp(suffix=".om", dir=folder)[1]
    os.replace(path, unique)
    return unique


def exported_rows(directory, name):
    """The rows of a summary that msprof exports from the one profile in the directory."""
    run("msprof", "--export=on", f"--output={directory}", cwd=directory)
    (path,) = glob.glob(os.path.join(directory, "PROF_*", "mindstudio_profiler_output", f"{name}_*.csv"))
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class AclTest(unittest.TestCase):
    """acl is initialized, and device 0 is current. `self.folder` is a fresh directory of the class."""

    @classmethod
    def setUpClass(cls):
        cls._temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._temporary.cleanup)
        cls.folder = cls._temporary.name

    def setUp(self):
        self.ok(acl.init())
        self.addCleanup(acl.finalize)
        self.ok(acl.rt.set_device(0))

    def ok(self, result):
        """Fails unless the code in `result`, (.., ret) or ret, is 0; gives what stands before it."""
        values = result if isinstance(result, tuple) else (result,)
        self.assertEqual(values[-1], 0, acl.get_recent_err_msg())
        return values[0] if len(values) == 2 else values[:-1]

    def refused(self, code, result):
        self.assertEqual(result[-1] if isinstance(result, tuple) else result, code)
        return acl.get_recent_err_msg()


class Model:
    """A loaded model, its description, and data sets over memory of its own."""

    def __init__(self, test, model_id):
        self.test, self.id = test, model_id
        self.desc = acl.mdl.create_desc()
        test.ok(acl.mdl.get_desc(self.desc, model_id))
        sizes = [acl.mdl.get_input_size_by_index(self.desc, i)
                 for i in range(acl.mdl.get_num_inputs(self.desc))]
        self.inputs = self._dataset(sizes)
        sizes = [acl.mdl.get_output_size_by_index(self.desc, i)
                 for i in range(acl.mdl.get_num_outputs(self.desc))]
        self.outputs = self._dataset(sizes)

    def _dataset(self, sizes):
        dataset = acl.mdl.create_dataset()
        for size in sizes:
            memory = self.test.ok(acl.rt.malloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)) if size else 0
            buffer = acl.create_data_buffer(memory, size)
            self.test.ok(acl.mdl.add_dataset_buffer(dataset, buffer))
        return dataset

    @staticmethod
    def buffer(dataset, index):
        return acl.mdl.get_dataset_buffer(dataset, index)

    def write(self, index, array):
        dense = np.ascontiguousarray(array)
        buffer = self.buffer(self.inputs, index)
        self.test.ok(acl.rt.memcpy(acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size_v2(buffer),
                                   acl.util.numpy_to_ptr(dense), dense.nbytes,
                                   acl.ACL_MEMCPY_HOST_TO_DEVICE))

    def output(self, index, shape=None):
        """A copy, in the current output's shape."""
        if shape is None:
            shape = self.test.ok(acl.mdl.get_cur_output_dims(self.desc, index))["dims"]
        dtype = DTYPES[acl.mdl.get_output_data_type(self.desc, index)]
        count = int(np.prod(shape, dtype=np.int64))
        memory = acl.get_data_buffer_addr(self.buffer(self.outputs, index))
        if count == 0:
            return np.empty(shape, dtype)
        return np.frombuffer(acl.util.ptr_to_bytes(memory, count * np.dtype(dtype).itemsize),
                             dtype).reshape(shape)

    def run(self):
        return acl.mdl.execute(self.id, self.inputs, self.outputs)

    def destroy(self):
        for dataset in (self.inputs, self.outputs):
            for index in range(acl.mdl.get_dataset_num_buffers(dataset)):
                buffer = self.buffer(dataset, index)
                memory = acl.get_data_buffer_addr(buffer)
                if memory:
                    self.test.ok(acl.rt.free(memory))
                self.test.ok(acl.destroy_data_buffer(buffer))
            self.test.ok(acl.mdl.destroy_dataset(dataset))
        self.test.ok(acl.mdl.destroy_desc(self.desc))
        self.test.ok(acl.mdl.unload(self.id))
