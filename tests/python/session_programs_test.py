"""Calls as programs of several kinds make them: classifiers, detectors, audio and text models."""

import pathlib
import sys
import unittest
import warnings

import numpy
from session_case import SessionTest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer

import aoe as ort
from aoe import backend, datasets


class ProgramsTest(SessionTest):
    def test_a_classifier_that_tries_a_gpu_first(self):
        path = self.model(op="Softmax", shape=(1, 3))
        session = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                session = ort.InferenceSession(path, providers=["CUDAExecutionProvider"])
            except RuntimeError:
                session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
        name = session.get_inputs()[0].name
        scores = session.run([], {name: numpy.array([[1, 3, 2]], numpy.float32)})[0]
        self.assertEqual(int(scores.argmax()), 1)

    def test_a_detector_whose_model_keeps_the_best_boxes(self):
        """NonMaxSuppression: how many boxes there are only the run can tell."""
        path = self.folder / "detector.onnx"
        limits = [
            onnx_writer.tensor("most", [], [10], onnx_writer.INT64),
            onnx_writer.tensor("overlap", [], [0.5]),
            onnx_writer.tensor("least", [], [0.4]),
        ]
        nms = ["boxes", "scores", "most", "overlap", "least"]
        onnx_writer.write(
            path,
            [onnx_writer.node("NonMaxSuppression", nms, ["kept"], "nms")],
            [onnx_writer.value("boxes", 1, -1, 4), onnx_writer.value("scores", 1, 1, -1)],
            [onnx_writer.value("kept", -1, 3, element_type=onnx_writer.INT64)],
            limits,
        )
        session = self.open(str(path))
        boxes = [[[0, 0, 10, 10], [0, 1, 10, 11], [20, 20, 30, 30], [40, 40, 50, 50]]]
        for scores, kept in (([0.9, 0.8, 0.7, 0.1], [0, 2]), ([0.5, 0.8, 0.1, 0.1], [1])):
            feed = {
                "boxes": numpy.array(boxes, numpy.float32),
                "scores": numpy.array([[scores]], numpy.float32),
            }
            self.assertEqual(session.run(None, feed)[0][:, 2].tolist(), kept)

    def test_an_audio_model_whose_program_sets_threads_on_the_session(self):
        session = self.open(self.model())
        session.intra_op_num_threads = 1
        session.inter_op_num_threads = 1
        (y,) = session.run(None, {"x": numpy.ones((1, 3), numpy.float32)})
        self.assertEqual(y.shape, (1, 3))

    def test_names_with_colons_in_another_order(self):
        """As converters from TensorFlow name outputs."""
        path = self.folder / "colons.onnx"
        onnx_writer.write(
            path,
            [
                onnx_writer.node("Relu", ["in_2:0"], ["PartitionedCall:0"], "a"),
                onnx_writer.node("Neg", ["in_2:0"], ["PartitionedCall:1"], "b"),
            ],
            [onnx_writer.value("in_2:0", -1)],
            [onnx_writer.value(f"PartitionedCall:{each}", -1) for each in range(2)],
        )
        session = self.open(str(path))
        x = numpy.array([-1, 2], numpy.float32)
        names = ["PartitionedCall:1", "PartitionedCall:0"]
        negative, positive = session.run(names, {"in_2:0": x})
        self.assertEqual((negative.tolist(), positive.tolist()), ([1, -2], [0, 2]))

    def test_a_text_encoder_with_buffers_for_its_longest_input(self):
        """What is bound is the beginning of a buffer that serves all lengths."""
        path = self.model("embed", "Abs", element_type=onnx_writer.INT64)
        session = self.open(path)
        buffer = numpy.zeros(12, numpy.int64)
        for rows in (1, 3, 2):
            ids = -numpy.arange(rows * 3, dtype=numpy.int64).reshape(rows, 3)
            binding = session.io_binding()
            binding.bind_input("x", "cpu", 0, numpy.int64, ids.shape, ids.ctypes.data)
            binding.bind_output("y", "cpu", 0, numpy.int64, ids.shape, buffer.ctypes.data)
            session.run_with_iobinding(binding)
            self.assertEqual(buffer[: rows * 3].tolist(), (-ids).ravel().tolist())


class ModelCompilerTest(SessionTest):
    def test_what_is_compiled_is_opened(self):
        path = self.model(shape=("rows", 2))
        options = ort.SessionOptions()
        with self.assertRaisesRegex(ValueError, "input x is .*add_free_dimension_override_by_name"):
            ort.ModelCompiler(options, path)
        options.add_free_dimension_override_by_name("rows", 1)
        options.add_provider("AoeExecutionProvider", {"threads": 1})
        target = self.folder / "compiled.onnx"
        ort.ModelCompiler(options, path).compile_to_file(str(target))
        parts = []
        ort.ModelCompiler(options, path).compile_to_stream(parts.append)
        x = numpy.array([[-1, 2]], numpy.float32)
        for model in (str(target), b"".join(parts)):
            self.assertEqual(self.open(model).run(None, {"x": x})[0].tolist(), [[0, 2]])
        flags = ort.OrtCompileApiFlags.ERROR_IF_OUTPUT_FILE_EXISTS
        compiler = ort.ModelCompiler(options, path, flags=flags)
        with self.assertRaisesRegex(RuntimeError, "is there already"):
            compiler.compile_to_file(str(target))
        compiler.compile_to_file()
        self.assertTrue((self.folder / "model_ctx.onnx").exists())


class ExamplesTest(SessionTest):
    """As first steps with ONNX Runtime go."""

    def test_a_function(self):
        session = self.open(datasets.get_example("sigmoid.onnx"))
        (given,), (made,) = session.get_inputs(), session.get_outputs()
        self.assertEqual(
            (given.name, given.shape, given.type), ("x", [3, 4, 5], "tensor(float)")
        )
        x = numpy.linspace(-3, 3, 60, dtype=numpy.float32).reshape(3, 4, 5)
        (y,) = session.run([made.name], {given.name: x})
        numpy.testing.assert_allclose(y, 1 / (1 + numpy.exp(-x)), rtol=1e-5)
        x = numpy.ones((3, 2), numpy.float32)
        session = self.open(ort.datasets.get_example("mul_1.onnx"))
        self.assertEqual(session.run(None, {"X": x})[0].tolist(), [[1, 2], [3, 4], [5, 6]])

    def test_a_classifier(self):
        session = self.open(datasets.get_example("logreg_iris.onnx"))
        self.assertEqual(session.get_outputs()[1].type, "seq(map(int64,tensor(float)))")
        flowers = numpy.array([[5.1, 3.5], [6.3, 2.5], [7.2, 3.2]], numpy.float32)
        labels, probabilities = session.run(None, {session.get_inputs()[0].name: flowers})
        self.assertEqual(labels.tolist(), [0, 1, 2])
        for label, likely in zip(labels, probabilities):
            self.assertAlmostEqual(sum(likely.values()), 1, 5)
            self.assertEqual(max(likely, key=likely.get), label)
        with self.assertRaisesRegex(FileNotFoundError, "there is no example other.onnx"):
            datasets.get_example("other.onnx")


class BackendTest(SessionTest):
    def test_inputs_as_a_list_a_dict_or_alone(self):
        path = self.model(shape=(2,))
        prepared = backend.prepare(path, "CPU", intra_op_num_threads=1)
        x = numpy.array([-1, 2], numpy.float32)
        for given in ([x], (x,), {"x": x}, x):
            self.assertEqual(prepared.run(given)[0].tolist(), [0, 2])
        with self.assertRaisesRegex(ValueError, "the model has 1 inputs, 2 are given"):
            prepared.run([x, x])

    def test_models(self):
        path = self.model(shape=(2,))
        content = pathlib.Path(path).read_bytes()

        class Proto:
            def SerializeToString(self):
                return content

        x = numpy.array([-1, 2], numpy.float32)
        for model in (path, content, Proto(), self.open(path)):
            self.assertEqual(ort.backend.run_model(model, [x], "CPU")[0].tolist(), [0, 2])
        with self.assertRaisesRegex(RuntimeError, "device CUDA"):
            backend.prepare(path, "CUDA")
        self.assertTrue(backend.is_compatible(path, "CPU:0"))


if __name__ == "__main__":
    unittest.main()
