"""acl.util: addresses of Python's memory and back, threads; and what the package itself offers."""
import errno
import importlib
import os
import re
import threading
import unittest

import acl
import numpy as np


class AddressTest(unittest.TestCase):
    def test_numpy_and_back(self):
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        address = acl.util.numpy_to_ptr(array)
        self.assertEqual(address, array.ctypes.data)
        view = acl.util.ptr_to_numpy(address, (2, 3), 11)  # NPY_FLOAT32
        np.testing.assert_array_equal(view, array)
        array[1, 2] = 70
        self.assertEqual(view[1, 2], 70)  # the same memory
        self.assertFalse(view.flags.owndata)
        self.assertEqual(acl.util.ptr_to_numpy(address, (3, 2), np.float32).shape, (3, 2))
        self.assertEqual(acl.util.ptr_to_numpy(address, [], "<f4").shape, ())

    def test_types_that_memory_cannot_have(self):
        array = np.zeros(8)
        address = acl.util.numpy_to_ptr(array)
        for wrong in (17, object, "O", 10**6, "no such type", "S0"):
            with self.assertRaises((TypeError, ValueError), msg=wrong):
                acl.util.ptr_to_numpy(address, (1,), wrong)
        for shape in ((-1,), ("1",), 1):
            with self.assertRaises((TypeError, ValueError), msg=shape):
                acl.util.ptr_to_numpy(address, shape, 12)
        self.assertEqual(acl.util.ptr_to_numpy(0, (0, 3), 12).shape, (0, 3))

    def test_an_array_that_is_not_dense(self):
        array = np.arange(12).reshape(3, 4).T
        with self.assertWarnsRegex(UserWarning, "numpy_contiguous_to_ptr"):
            acl.util.numpy_to_ptr(array)
        address, dense = acl.util.numpy_contiguous_to_ptr(array)
        self.assertEqual(address, dense.ctypes.data)
        self.assertTrue(dense.flags.c_contiguous)
        np.testing.assert_array_equal(dense, array)
        already = np.zeros((2, 2))
        address, same = acl.util.numpy_contiguous_to_ptr(already)
        self.assertEqual(address, already.ctypes.data)
        self.assertIs(same, already)

    def test_an_array_of_bytes_read_from_a_pipe(self):
        read = b"\x01\x00\x02\x00\x00"
        array = np.array(read)
        self.assertEqual(acl.util.ptr_to_bytes(acl.util.numpy_to_ptr(array), array.itemsize * array.size), read)

    def test_bytes_and_back(self):
        text = b"a\0b" * 1000
        address = acl.util.bytes_to_ptr(text)
        self.assertEqual(acl.util.ptr_to_bytes(address, len(text)), text)
        self.assertEqual(acl.util.ptr_to_bytes(address, 0), b"")
        self.assertEqual(acl.util.ptr_to_bytes(0, 0), b"")
        for wrong in ("text", [1], 1, bytearray(b"x")):
            self.assertRaises(TypeError, acl.util.bytes_to_ptr, wrong)
        for wrong in (b"bytes", [1.0], 1):
            self.assertRaises(TypeError, acl.util.numpy_to_ptr, wrong)


class ThreadTest(unittest.TestCase):
    def test_the_function_gets_the_list(self):
        seen = []
        thread, ret = acl.util.start_thread(seen.append, [1, "two"])
        self.assertEqual(ret, 0)
        self.assertEqual(acl.util.stop_thread(thread), 0)
        self.assertEqual(seen, [[1, "two"]])
        self.assertEqual(acl.util.stop_thread(thread), errno.ESRCH)

    def test_ids_are_not_used_again(self):
        ids = [acl.util.start_thread(lambda args: None, [])[0] for _ in range(50)]
        self.assertEqual(len(set(ids)), 50)
        self.assertEqual([acl.util.stop_thread(i) for i in ids], [0] * 50)

    def test_an_exception_in_the_thread(self):
        def fails(args_list):
            raise KeyError("what went wrong")

        thread, _ = acl.util.start_thread(fails, [])
        with self.assertRaisesRegex(RuntimeError, "what went wrong"):
            acl.util.stop_thread(thread)

    def test_a_thread_that_stops_itself(self):
        codes, told = [], threading.Event()
        ids = []

        def body(args_list):
            told.wait()
            codes.append(acl.util.stop_thread(ids[0]))

        ids.append(acl.util.start_thread(body, [])[0])
        told.set()
        self.assertEqual(acl.util.stop_thread(ids[0]), 0)
        self.assertEqual(codes, [errno.EDEADLK])

    def test_wrong_types(self):
        self.assertRaises(TypeError, acl.util.start_thread, 3, [])
        self.assertRaises(TypeError, acl.util.stop_thread, "1")


class ModuleTest(unittest.TestCase):
    def test_submodules_can_be_imported_by_name(self):
        for name in ("rt", "mdl", "util"):
            self.assertIs(importlib.import_module(f"acl.{name}"), getattr(acl, name))
            self.assertEqual(getattr(acl, name).__name__, f"acl.{name}")

    def test_every_constant_of_the_headers_is_there(self):
        headers = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "runtime", "acl")
        no_constants = {"ACL_FUNC_VISIBILITY", "ACL_PROF_ARGS_MIN", "ACL_PROF_ARGS_MAX"}
        for name in ("acl_base.h", "acl_rt.h", "acl_mdl.h", "acl_prof.h"):
            with open(os.path.join(headers, name)) as file:
                code = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
            words = set(re.findall(r"\bACL_\w+", code)) - no_constants
            self.assertGreater(len(words), 10)
            self.assertEqual({word for word in words if not hasattr(acl, word)}, set(), name)

    def test_constants(self):
        self.assertEqual((acl.ACL_MEM_MALLOC_HUGE_FIRST, acl.ACL_MEMCPY_DEVICE_TO_HOST), (0, 2))
        self.assertEqual(acl.ACL_DYNAMIC_TENSOR_NAME, "ascend_mbatch_shape_data")
        self.assertEqual(acl.data_type_size(acl.ACL_FLOAT16), 2)
        self.assertEqual(acl.data_type_size(12345), 0)


if __name__ == "__main__":
    unittest.main()
