"""What programs written for ONNX Runtime find under its names, beside InferenceSession's calls."""

import pathlib
import unittest

import numpy
from session_case import SessionTest

import aoe as ort
from aoe.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, InvalidProtobuf, NoSuchFile


class ErrorsTest(SessionTest):
    def test_the_exceptions_are_where_programs_import_them(self):
        from aoe.capi import _pybind_state
        from aoe.capi._pybind_state import RuntimeException
        from aoe.capi.onnxruntime_inference_collection import InferenceSession, IOBinding, OrtValue

        self.assertIs(ort.capi.onnxruntime_pybind11_state.Fail, Fail)
        self.assertIs(_pybind_state.Fail, Fail)
        self.assertTrue(issubclass(RuntimeException, RuntimeError))
        self.assertEqual(
            (InferenceSession, IOBinding, OrtValue),
            (ort.InferenceSession, ort.IOBinding, ort.OrtValue),
        )

    def test_runs_that_do_not_fit_are_invalid_arguments(self):
        session = self.open(self.model(shape=(2, 3)))
        x = numpy.ones((2, 3), numpy.float32)
        for names, feed, own in (
            (["misspelled"], {"x": x}, ValueError),
            (None, {"x": x, "misspelled": x}, ValueError),
            (None, {"x": x[:1]}, ValueError),
            (None, {"x": x.astype(float)}, TypeError),
        ):
            for kind in (InvalidArgument, own):
                with self.subTest(names=names, kind=kind), self.assertRaises(kind):
                    session.run(names, feed)
        with self.assertRaises(ValueError):
            session.run(None, {})

    def test_models_that_cannot_be_opened(self):
        damaged = self.folder / "damaged.onnx"
        damaged.write_bytes(pathlib.Path(self.model()).read_bytes()[:-5])
        unknown = self.model("unknown", "NoSuchOperator", (2, 3))
        for kind, path in (
            (NoSuchFile, "nowhere.onnx"),
            (InvalidProtobuf, str(damaged)),
            (Fail, unknown),
        ):
            with self.subTest(path), self.assertRaises(kind):
                self.open(path)


if __name__ == "__main__":
    unittest.main()
