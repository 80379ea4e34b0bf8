"""Weights that SessionOptions give instead of a model's own."""

import pathlib
import sys
import unittest

import numpy
from session_case import SessionTest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer

import aoe as ort


class WeightsTest(SessionTest):
    """y = (x + v) * w; both weights are said to lie in files."""

    def setUp(self):
        super().setUp()
        self.path = self.folder / "model.onnx"
        onnx_writer.write(
            self.path,
            [
                onnx_writer.node("Add", ["x", "v"], ["sum"], "add"),
                onnx_writer.node("Mul", ["sum", "w"], ["y"], "mul"),
            ],
            [onnx_writer.value("x", 2)],
            [onnx_writer.value("y", 2)],
            [onnx_writer.external("v", [2], "v.bin"), onnx_writer.external("w", [2], "w.bin")],
        )
        self.options = ort.SessionOptions()

    def result(self, model=None):
        session = self.open(model or str(self.path), self.options)
        return session.run(None, {"x": numpy.array([1, 2], numpy.float32)})[0].tolist()

    def test_one_is_given_and_one_lies_in_its_file(self):
        numpy.array([10, 10], numpy.float32).tofile(self.folder / "v.bin")
        numpy.array([1, 1], numpy.float32).tofile(self.folder / "w.bin")
        self.assertEqual(self.result(), [11, 12])
        value = ort.OrtValue.ortvalue_from_numpy(numpy.array([2, 3], numpy.float32))
        self.options.add_initializer("w", value)
        self.assertEqual(self.result(), [22, 36])
        value.update_inplace(numpy.array([0, 1], numpy.float32))
        self.assertEqual(self.result(), [0, 12])  # of a session made later

    def test_all_are_given(self):
        values = [
            ort.OrtValue.ortvalue_from_numpy(numpy.array(each, numpy.float32))
            for each in ([1, 1], [3, 3])
        ]
        self.options.add_external_initializers(["v", "w"], values)
        self.assertEqual(self.result(), [6, 9])
        self.assertEqual(self.result(self.path.read_bytes()), [6, 9])

    def test_files_in_memory(self):
        contents = [numpy.array(each, numpy.float32).tobytes() for each in ([1, 1], [3, 3, 7])]
        self.options.add_external_initializers_from_files_in_memory(
            ["v.bin", "w.bin"], contents, [8, 8]
        )
        self.assertEqual(self.result(), [6, 9])

    def test_what_the_model_does_not_have(self):
        self.options.add_initializer("u", ort.OrtValue.ortvalue_from_numpy(numpy.zeros(2)))
        with self.assertRaisesRegex(ValueError, "the model has no initializer u"):
            self.result()


if __name__ == "__main__":
    unittest.main()
