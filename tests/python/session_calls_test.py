"""InferenceSession: programs written for ONNX Runtime, with another import line."""

import copy
import pathlib
import pickle
import sys
import threading
import unittest
import warnings

import made_models
import numpy
from session_case import SessionTest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer

import aoe as ort
from aoe import programs


class _Pickled(ort.InferenceSession):
    """As programs have it that send sessions to other processes."""

    def __init__(self, path):
        super().__init__(path)
        self.path = path

    def __getstate__(self):
        return {"path": self.path}

    def __setstate__(self, state):
        self.__init__(state["path"])


class CallsTest(SessionTest):
    def test_the_border_is_that_of_the_onnx_file(self):
        path = str(self.folder / "m.onnx")
        made_models._run("make_model", "mobilenetv2", "--small", "--dynamic", f"--output={path}")
        session = self.open(path)
        (given,) = session.get_inputs()
        self.assertEqual(given.name, "input")
        self.assertEqual(given.type, "tensor(float)")
        self.assertEqual(given.shape, ["batch", 3, "height", "width"])
        self.assertEqual([each.name for each in session.get_outputs()], ["output"])
        self.assertEqual(session.get_modelmeta().producer_name, "make_model")
        self.assertEqual(session.get_modelmeta().custom_metadata_map, {})
        self.assertIn("CPUExecutionProvider", session.get_providers())

    def test_every_new_shape_runs(self):
        session = self.open(self.model())
        for rows in (1, 4, 0, 1):
            x = numpy.linspace(-1, 1, rows * 3, dtype=numpy.float32).reshape(rows, 3)
            (y,) = session.run(None, {"x": x})
            numpy.testing.assert_array_equal(y, numpy.maximum(x, 0))

    def test_calls_as_programs_for_onnx_runtime_make_them(self):
        """A tokeniser's lists, options given as None, and what a program calls before it makes a session."""
        ort.preload_dlls(cuda=False)
        ort.disable_telemetry_events()
        ort.enable_telemetry_events()
        self.assertEqual(ort.get_version_string(), ort.__version__)
        path = self.model(op="Abs", element_type=onnx_writer.INT64)
        options = ort.SessionOptions()
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        sessions = [
            ort.InferenceSession(path, None),
            ort.InferenceSession(path, providers=["CPUExecutionProvider"], sess_options=options),
        ]
        for session in sessions:
            self.assertIn("tensor(int64)", str(session.get_inputs()[0]))
            (y,) = session.run(output_names=["y"], input_feed={"x": [[1, -2, 3]]})
            self.assertEqual((y.dtype, y.tolist()), (numpy.int64, [[1, 2, 3]]))

    def test_a_state_is_fed_back_beside_a_number(self):
        """As audio models do: outputs are the next call's inputs, and one input has no dimensions."""
        path = self.folder / "state.onnx"
        onnx_writer.write(
            path,
            [
                onnx_writer.node("Cast", ["rate"], ["float_rate"], "cast", to=onnx_writer.FLOAT),
                onnx_writer.node("Mul", ["x", "float_rate"], ["scaled"], "scale"),
                onnx_writer.node("Add", ["state", "scaled"], ["next_state"], "add"),
                onnx_writer.node("Abs", ["next_state"], ["y"], "abs"),
            ],
            [
                onnx_writer.value("x", -1, 3),
                onnx_writer.value("state", -1, 3),
                onnx_writer.value("rate", element_type=onnx_writer.INT64),
            ],
            [onnx_writer.value("y", -1, 3), onnx_writer.value("next_state", -1, 3)],
        )
        session = self.open(str(path))
        for rows in (1, 2):
            state = numpy.zeros((rows, 3), numpy.float32)
            for step in range(1, 4):
                x = numpy.full((rows, 3), -1, numpy.float32)
                feed = {"x": x, "state": state, "rate": numpy.array(2, dtype="int64")}
                y, state = session.run(None, feed)
                self.assertEqual(y.tolist(), [[2.0 * step] * 3] * rows)

    def test_scores_by_label_are_dicts(self):
        """As classifiers of scikit-learn have them."""
        for name, labels, key in (
            ("classlabels_int64s", [3, 5], onnx_writer.INT64),
            ("classlabels_strings", ["no", "yes"], onnx_writer.STRING),
        ):
            path = self.folder / f"{name}.onnx"
            zip_map = {"domain": "ai.onnx.ml", name: labels}
            onnx_writer.write(
                path,
                [
                    onnx_writer.node("Abs", ["x"], ["p"], "abs"),
                    onnx_writer.node("ZipMap", ["p"], ["scores"], "zip", **zip_map),
                ],
                [onnx_writer.value("x", -1, 2)],
                [onnx_writer.value("p", -1, 2), onnx_writer.list_of_maps("scores", key)],
                domains=["ai.onnx.ml"],
            )
            session = self.open(str(path))
            key_text = "int64" if key == onnx_writer.INT64 else "string"
            self.assertEqual(
                session.get_outputs()[1].type, f"seq(map({key_text},tensor(float)))"
            )
            x = numpy.array([[-0.5, 1], [2, -0.25]], numpy.float32)
            p, scores = session.run(None, {"x": x})
            self.assertEqual(p.tolist(), [[0.5, 1], [2, 0.25]])
            expected = [dict(zip(labels, [0.5, 1.0])), dict(zip(labels, [2.0, 0.25]))]
            self.assertEqual(scores, expected)
            self.assertEqual(session.run(["scores"], {"x": x}), [expected])

    def test_labels_that_are_texts_are_texts(self):
        path = self.folder / "texts.onnx"
        labels = ["no", "perhaps", "yes"]
        classifier = {
            "domain": "ai.onnx.ml",
            "coefficients": [1.0, 0.0, 0.0, 1.0, -1.0, -1.0],
            "intercepts": [0.0, 0.0, 0.0],
            "classlabels_strings": labels,
        }
        onnx_writer.write(
            path,
            [
                onnx_writer.node("LinearClassifier", ["x"], ["l", "p"], "linear", **classifier),
                onnx_writer.node("Cast", ["l"], ["label"], "cast", to=onnx_writer.STRING),
            ],
            [onnx_writer.value("x", -1, 2)],
            [
                onnx_writer.value("label", -1, element_type=onnx_writer.STRING),
                onnx_writer.value("p", -1, 3),
            ],
            domains=["ai.onnx.ml"],
        )
        session = self.open(str(path))
        self.assertEqual(session.get_outputs()[0].type, "tensor(string)")
        x = numpy.array([[1, 0], [-2, -1], [0.5, 2], [3, 1]], numpy.float32)
        with self.assertNoLogs("aoe"):
            label, p = session.run(None, {"x": x})
        self.assertEqual(label.tolist(), ["no", "yes", "perhaps", "no"])
        self.assertEqual(label.dtype, object)
        self.assertEqual(p.shape, (4, 3))
        (only,) = session.run(["label"], {"x": x[:1]})
        self.assertEqual(only.tolist(), ["no"])

    def test_results_are_those_of_an_om(self):
        om = made_models.om("mlp-training")
        onnx = str(pathlib.Path(om).with_suffix(".onnx"))
        compiled, loaded, content = (
            self.open(onnx),
            self.open(om),
            self.open(pathlib.Path(onnx).read_bytes()),
        )
        random = numpy.random.default_rng(1)
        feed = {
            each.name: (random.standard_normal(each.shape) * 0.1).astype(numpy.float32)
            for each in compiled.get_inputs()
        }
        wanted = compiled.run(["loss", "fc1.weight.new"], feed)
        for session in (loaded, content, self.open(pathlib.Path(om).read_bytes())):
            for array, want in zip(session.run(["loss", "fc1.weight.new"], feed), wanted):
                numpy.testing.assert_array_equal(array, want)
        self.assertEqual(len(compiled.run([], feed)), len(compiled.get_outputs()))

    def test_an_om_says_that_its_threads_are_its_own(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        om = made_models.om("mlp-training")
        with self.assertWarnsRegex(UserWarning, "--threads=1: without effect.*OMP_NUM_THREADS"):
            self.open(om, options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.open(om)

    def test_an_om_with_gears_takes_the_gear_of_the_shapes(self):
        om = made_models.om(
            "mobilenetv2",
            "--dynamic",
            atc_flags=("--input_shape=input:-1,3,32,32", "--dynamic_batch_size=1,3"),
        )
        session = self.open(om)
        self.assertEqual(session.get_inputs()[0].shape, [None, 3, 32, 32])
        for batch in (3, 1):
            (y,) = session.run(None, {"input": numpy.ones((batch, 3, 32, 32), numpy.float32)})
            self.assertEqual(y.shape[0], batch)

    def test_it_is_of_its_process(self):
        session = self.open(self.model())
        for copy_of in (pickle.dumps, copy.deepcopy):
            with self.assertRaisesRegex(TypeError, "cannot be copied or pickled; make one of"):
                copy_of(session)

    def test_a_subclass_that_pickles_its_path(self):
        session = self.open(self.model())
        ours = _Pickled(session._model_path)
        self.addCleanup(ours.close)
        x = numpy.ones((2, 3), numpy.float32)
        again = pickle.loads(pickle.dumps(ours))
        self.addCleanup(again.close)
        numpy.testing.assert_array_equal(again.run(None, {"x": x})[0], x)
        self.assertEqual(again._provider_options, again.get_provider_options())

    def test_run_async(self):
        session = self.open(self.model(shape=(2,)))
        done = threading.Event()
        seen = []
        for feed in ({"x": numpy.ones(2, numpy.float32)}, {}):
            done.clear()
            session.run_async(None, feed, lambda *given: (seen.append(given), done.set()), "mine")
            self.assertTrue(done.wait(60))
        (results, user, error), (_, _, failure) = seen
        self.assertEqual((results[0].tolist(), user, error), ([1, 1], "mine", ""))
        self.assertIn("Required inputs", failure)


if __name__ == "__main__":
    unittest.main()
