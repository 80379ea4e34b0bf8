"""io_binding and OrtValue: results where a program wants them."""

import copy
import pathlib
import sys
import unittest

import numpy
from session_case import SessionTest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer

import aoe as ort


class BindingTest(SessionTest):
    def test_results_land_where_they_are_bound(self):
        session = self.open(self.model(shape=(2, 3)))
        x = numpy.array([[-1, 2, -3], [4, -5, 6]], numpy.float32)
        place = ort.OrtValue.ortvalue_from_shape_and_type([2, 3], numpy.float32)
        before = place.data_ptr()
        binding = session.io_binding()
        binding.bind_cpu_input("x", x)
        binding.bind_ortvalue_output("y", place)
        session.run_with_iobinding(binding)
        numpy.testing.assert_array_equal(place.numpy(), numpy.maximum(x, 0))
        self.assertEqual(binding.get_outputs()[0].data_ptr(), before)
        (copied,) = binding.copy_outputs_to_cpu()
        x *= -1  # the bound array is read again
        session.run_with_iobinding(binding)
        numpy.testing.assert_array_equal(place.numpy(), numpy.maximum(x, 0))
        numpy.testing.assert_array_equal(copied, numpy.maximum(-x, 0))

    def test_addresses(self):
        session = self.open(self.model(shape=(2, 3)))
        x, y = numpy.full((2, 3), -2, numpy.float32), numpy.ones((2, 3), numpy.float32)
        binding = session.io_binding()
        binding.bind_input("x", "cpu", 0, numpy.float32, x.shape, x.ctypes.data)
        binding.bind_output("y", "cpu", 0, numpy.float32, y.shape, y.ctypes.data)
        session.run_with_iobinding(binding)
        self.assertEqual(y.tolist(), [[0] * 3] * 2)

    def test_outputs_without_a_place_are_new_each_time(self):
        session = self.open(self.model())
        binding = session.io_binding()
        binding.bind_output("y")
        arrays = []
        for rows in (1, 2):
            binding.bind_cpu_input("x", numpy.full((rows, 3), rows, numpy.float32))
            session.run_with_iobinding(binding)
            arrays += binding.copy_outputs_to_cpu()
        self.assertEqual([each.tolist() for each in arrays], [[[1] * 3], [[2] * 3] * 2])

    def test_places_that_do_not_fit(self):
        session = self.open(self.model())
        binding = session.io_binding()
        binding.bind_cpu_input("x", numpy.ones((2, 3), numpy.float32))
        with self.assertRaisesRegex(ValueError, "no output is bound"):
            session.run_with_iobinding(binding)
        binding.bind_ortvalue_output(
            "y", ort.OrtValue.ortvalue_from_numpy(numpy.ones((1, 3), numpy.float32))
        )
        with self.assertRaisesRegex(ValueError, r"y is \[2, 3\], but is bound to \[1, 3\]"):
            session.run_with_iobinding(binding)
        with self.assertRaisesRegex(ValueError, "Invalid output name: z"):
            binding.bind_output("z")
        with self.assertRaisesRegex(ValueError, "device cuda:0: there is one, cpu:0"):
            binding.bind_output("y", "cuda")

    def test_ort_values(self):
        x = numpy.array([-1.5, 2], numpy.float32)
        value = ort.OrtValue.ortvalue_from_numpy(x)
        self.assertEqual(
            (value.data_type(), value.shape(), value.device_name()), ("tensor(float)", [2], "cpu")
        )
        self.assertEqual((value.element_type(), value.is_tensor()), (1, True))
        self.assertTrue(numpy.shares_memory(value.numpy(), x))
        (y,) = self.open(self.model(shape=(2,))).run_with_ort_values(["y"], {"x": value})
        self.assertEqual(y.numpy().tolist(), [0, 2])
        for wanted, copy in ((None, None), (numpy.float32, False), (numpy.float64, True)):
            array = value.__array__(wanted, copy=copy)  # as numpy 2 asks
            self.assertEqual((array.tolist(), numpy.shares_memory(array, x)), ([-1.5, 2], not copy))
        value.update_inplace(numpy.array([7, 8], numpy.float32))
        self.assertEqual(x.tolist(), [7, 8])
        with self.assertRaisesRegex(ValueError, "cannot take"):
            value.update_inplace(numpy.array([7], numpy.float32))


    def test_ort_values_of_other_types(self):
        words = ort.OrtValue.ortvalue_from_numpy(numpy.array(["a", "bc"]))
        self.assertEqual((words.data_type(), words.numpy().tolist()), ("tensor(string)", ["a", "bc"]))
        session = self.open(self.model(shape=(2,), element_type=16))
        x = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(numpy.array([0x3F80, 0xBF80], "u2"), 16)
        (y,) = session.run_with_ort_values(["y"], {"x": x})
        self.assertEqual(y.data_type(), "tensor(bfloat16)")
        self.assertEqual(y.numpy().view("u2").tolist(), [0x3F80, 0])

    def test_weights_that_are_inputs_as_well_are_no_inputs(self):
        """As exporters write them for keep_initializers_as_inputs."""
        path = self.folder / "weight.onnx"
        onnx_writer.write(
            path,
            [onnx_writer.node("Mul", ["x", "w"], ["y"], "mul")],
            [onnx_writer.value("x", 2), onnx_writer.value("w", 2)],
            [onnx_writer.value("y", 2)],
            [onnx_writer.tensor("w", [2], [2.0, 3.0])],
        )
        session = self.open(str(path))
        x = numpy.ones(2, numpy.float32)
        self.assertEqual([each.name for each in session.get_inputs()], ["x"])
        self.assertEqual(session.get_overridable_initializers(), [])
        with self.assertRaisesRegex(ValueError, r"add_initializer\(\) gives it another value"):
            session.run(None, {"x": x, "w": x})
        self.assertEqual(session.run(None, {"x": x})[0].tolist(), [2, 3])


if __name__ == "__main__":
    unittest.main()
