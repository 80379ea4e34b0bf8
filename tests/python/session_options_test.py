"""Options and providers of InferenceSession, and models that it cannot open."""

import copy
import pathlib
import unittest
import warnings

import made_models
import numpy
from session_case import SessionTest

import aoe as ort


class OptionsTest(SessionTest):
    def test_models_that_cannot_be_opened(self):
        damaged = self.folder / "damaged.onnx"
        damaged.write_bytes(pathlib.Path(self.model()).read_bytes()[:-5])
        unknown = self.model("unknown", "NoSuchOperator", (2, 3))
        for error, text, model in (
            (FileNotFoundError, "there is no model nowhere.onnx", "nowhere.onnx"),
            (FileNotFoundError, "is a directory; give a model's file", str(self.folder)),
            (ValueError, "is no ONNX model, or a damaged one", str(damaged)),
            (ValueError, "is no ONNX model", b"text"),
            (TypeError, "a model is a path or bytes, not int", 7),
            (ort.ProgramError, "NoSuchOperator", unknown),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                self.open(model)

    def test_providers_and_their_options(self):
        path = self.model()
        with self.assertWarnsRegex(UserWarning, "'CUDAExecutionProvider' is not in available"):
            self.open(path, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.open(path, providers=ort.get_available_providers())
        calls = self.compiles()
        half = self.open(path, None, [("AoeExecutionProvider", {"precision_mode": "force_fp16"})])
        half.run(None, {"x": numpy.ones((1, 3), numpy.float32)})
        self.assertIn("--precision_mode=force_fp16", calls[0])
        self.assertEqual(
            half.get_provider_options()["AoeExecutionProvider"], {"precision_mode": "force_fp16"}
        )
        with self.assertRaisesRegex(ValueError, "precison_mode; did you mean precision_mode"):
            self.open(path, providers=[("AoeExecutionProvider", {"precison_mode": "x"})])

    def test_session_options(self):
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_free_dimension_override_by_name("batch", 2)
        path = str(self.folder / "m.onnx")
        made_models._run("make_model", "mobilenetv2", "--small", "--dynamic", f"--output={path}")
        calls = self.compiles()
        session = self.open(path, options)
        self.assertEqual(session.get_inputs()[0].shape[:2], [2, 3])
        for name in ("height", "width"):
            options.add_free_dimension_override_by_name(name, 32)
        self.assertEqual(calls, [])
        session = self.open(path, options)  # all sizes are known: compiled here
        self.assertIn("--threads=1", calls[0])
        self.assertEqual(session.get_inputs()[0].shape, [2, 3, 32, 32])
        with self.assertRaises(AttributeError):
            options.intra_op_threads = 1
        options.graph_optimization_level = 99
        options.intra_op_num_threads = numpy.int64(1)
        options.optimized_model_filepath = self.folder / "copy.onnx"
        for name, value in (
            ("intra_op_num_threads", "two"),
            ("graph_optimization_level", "all"),
            ("enable_profiling", None),
            ("profile_file_prefix", 3),
        ):
            with self.assertRaisesRegex(TypeError, name):
                setattr(options, name, value)
        with self.assertRaisesRegex(TypeError, "terminate"):
            ort.RunOptions().terminate = "no"

    def test_options_of_another_kind(self):
        with self.assertRaisesRegex(TypeError, "sess_options is of type SessionOptions, not 3"):
            ort.InferenceSession(self.model(), 3)
        session = self.open(self.model())
        x = numpy.ones((1, 3), numpy.float32)
        for wrong in (3, {"terminate": True}, ort.SessionOptions()):
            with self.assertRaisesRegex(TypeError, "run_options is of type RunOptions, not"):
                session.run(None, {"x": x}, wrong)
        session.run(None, {"x": x}, ort.RunOptions())

    def test_less_than_no_threads_are_as_many_as_atc_chooses(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = -1
        calls = self.compiles()
        self.open(self.model(shape=(2,)), options)
        self.assertNotIn("--threads", " ".join(calls[0]))

    def test_what_atc_says_of_options_comes_before_the_first_shape(self):
        for wrong in ({"precision_mode": "half"}, {"threads": 0}, {"keep_dtype": "nowhere.cfg"}):
            with self.assertRaisesRegex(ort.ProgramError, "exit code 2: .*(mode|threads|nowhere)"):
                ort.InferenceSession(self.model(), providers=[("AoeExecutionProvider", wrong)])


if __name__ == "__main__":
    unittest.main()
