"""InferenceSession: programs written for ONNX Runtime, with another import line."""

import concurrent.futures
import copy
import os
import pathlib
import pickle
import pwd
import subprocess
import sys
import threading
import unittest
import unittest.mock
import warnings

import made_models
import numpy
from session_case import SessionTest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer

import aoe as ort
from aoe import bank_places, loaded_shapes, om_cache, open_sizes, programs


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

    def test_outputs_whose_size_only_a_run_can_tell(self):
        path = self.folder / "nonzero.onnx"
        onnx_writer.write(
            path,
            [onnx_writer.node("NonZero", ["x"], ["y"], "node")],
            [onnx_writer.value("x", 3, 3)],
            [onnx_writer.value("y", 2, -1, element_type=onnx_writer.INT64)],
        )
        session = self.open(str(path))
        for x in (numpy.eye(3), numpy.zeros((3, 3)), numpy.ones((3, 3))):
            (y,) = session.run(None, {"x": x.astype(numpy.float32)})
            numpy.testing.assert_array_equal(y, numpy.array(numpy.nonzero(x)))

    def test_outputs_that_no_operator_makes(self):
        path = self.folder / "border.onnx"
        onnx_writer.write(
            path,
            [onnx_writer.node("Add", ["x", "w"], ["y"], "node")],
            [onnx_writer.value("x", 2)],
            [onnx_writer.value(name, 2) for name in ("w", "y", "x")],
            [onnx_writer.tensor("w", [2], [3.0, 4.0])],
        )
        session = self.open(str(path))
        results = session.run(None, {"x": numpy.array([1, 2], numpy.float32)})
        self.assertEqual([each.tolist() for each in results], [[3, 4], [4, 6], [1, 2]])
        (x,) = session.run(["x"], {"x": numpy.array([5, 6], numpy.float32)})
        self.assertEqual(x.tolist(), [5, 6])

    def test_inputs_that_say_what_they_stand_for(self):
        path = self.folder / "image.onnx"
        onnx_writer.write(
            path,
            [onnx_writer.node("Abs", ["x"], ["y"], "node")],
            [onnx_writer.value("x", 2, denotation="IMAGE")],
            [onnx_writer.value("y", 2, denotation="TENSOR")],
        )
        session = self.open(str(path))
        self.assertEqual(session.get_inputs()[0].type, "tensor(float)")
        (y,) = session.run(None, {"x": numpy.array([1, -2], numpy.float32)})
        self.assertEqual(y.tolist(), [1, 2])

    def test_operators_on_the_reference_are_named(self):
        with self.assertLogs("aoe", "WARNING") as said:
            session = self.open(self.slow_model())
        self.assertRegex(said.output[0], "WARNING:aoe:slow.om: 1 of 1 operators.*LRN")
        x = numpy.arange(15.0).reshape(5, 3)
        (y,) = session.run(None, {"x": x})
        numpy.testing.assert_allclose(y, x / (1 + 1e-4 * x * x) ** 0.75)

    def test_operators_on_the_reference_are_named_once(self):
        path = self.model("slow", "LRN", (-1, 3), attributes={"size": 1}, element_type=11)
        session = self.open(path)
        with self.assertLogs("aoe", "WARNING") as said:
            for rows in (2, 5, 7, 9):
                session.run(None, {"x": numpy.zeros((rows, 3))})
        self.assertEqual(len(said.output), len(set(said.output)), said.output)

    def test_types_of_elements(self):
        for number, text, dtype in (
            (10, "float16", numpy.float16),
            (11, "double", numpy.float64),
            (6, "int32", numpy.int32),
            (7, "int64", numpy.int64),
        ):
            with self.subTest(text):
                session = self.open(self.model(text, "Abs", (2, 3), element_type=number))
                self.assertEqual(session.get_inputs()[0].type, f"tensor({text})")
                x = numpy.array([[-1, 2, -3], [4, -5, 6]], dtype)
                (y,) = session.run(None, {"x": x})
                self.assertEqual(y.dtype, dtype)
                numpy.testing.assert_array_equal(y, numpy.abs(x))

    def test_outputs_without_a_type_have_that_of_the_operator(self):
        for name, size in (("fixed", 2), ("open", -1)):
            path = self.folder / f"{name}.onnx"
            onnx_writer.write(
                path,
                [onnx_writer.node("Shape", ["x"], ["y"], "node")],
                [onnx_writer.value("x", size, 3)],
                [onnx_writer.block(1, "y")],
            )
            session = self.open(str(path))
            (y,) = session.run(None, {"x": numpy.zeros((2, 3), numpy.float32)})
            self.assertEqual((y.dtype, y.tolist()), (numpy.int64, [2, 3]))
            self.assertEqual(session.get_outputs()[0].type, "tensor(int64)")

    def test_bfloat16_is_its_bits_or_of_ml_dtypes(self):
        session = self.open(self.model("bf16", "Relu", (2,), element_type=16))
        self.assertEqual(session.get_inputs()[0].type, "tensor(bfloat16)")
        bits = numpy.array([0x3F80, 0xBF80], numpy.uint16)  # 1 and -1
        (y,) = session.run(None, {"x": bits})
        numpy.testing.assert_array_equal(y.view(numpy.uint16), [0x3F80, 0])
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        (y,) = session.run(None, {"x": bits.view(ml_dtypes.bfloat16)})
        self.assertEqual(y.dtype, ml_dtypes.bfloat16)

    def test_inputs_are_not_copied_where_they_are_dense(self):
        session = self.open(self.model(shape=(2, 3)))
        seen = []
        execution = ort.inference_session.LoadedModel.execution

        def spy(model, feeds, *others):
            seen.extend(feeds)
            return execution(model, feeds, *others)

        x = numpy.ones((2, 3), numpy.float32)
        turned = numpy.asfortranarray(x)
        with unittest.mock.patch.object(ort.inference_session.LoadedModel, "execution", spy):
            session.run(None, {"x": x})
            session.run(None, {"x": turned})
        self.assertTrue(numpy.shares_memory(seen[0], x))
        self.assertFalse(numpy.shares_memory(seen[1], turned))

    def test_what_does_not_fit_is_named(self):
        session = self.open(self.model(shape=(2, 3)))
        x = numpy.ones((2, 3), numpy.float32)
        for error, text, names, feed in (
            (ValueError, "Invalid input name: xx; did you mean x", None, {"xx": x}),
            (ValueError, "Invalid output name: z; there are y", ["z"], {"x": x}),
            (ValueError, r"Required inputs \(\['x'\]\) are missing", None, {}),
            (
                ValueError,
                r"input x: \[3, 3\], expected \[2, 3\]",
                None,
                {"x": numpy.ones((3, 3), numpy.float32)},
            ),
            (
                TypeError,
                r"it is tensor\(double\), expected tensor\(float\)",
                None,
                {"x": x.astype(float)},
            ),
            (TypeError, "output_names is a list", "y", {"x": x}),
            (TypeError, "input_feed is a dict", None, [x]),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                session.run(names, feed)
        session.close()
        with self.assertRaisesRegex(RuntimeError, "is closed"):
            session.run(None, {"x": x})

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

    def test_sizes_that_contradict_names_where_nothing_reads_them(self):
        """As of a decoder whose cache is empty in each dimension before the first step."""
        path = self.folder / "branches.onnx"
        branches = [
            onnx_writer.graph(
                [onnx_writer.node(op, inputs, [name], name, **attributes)],
                [],
                [onnx_writer.value(name, "batch", "words")],
            )
            for op, inputs, name, attributes in (
                ("Concat", ["past", "x"], "both", {"axis": 1}),
                ("Relu", ["x"], "new", {}),
            )
        ]
        onnx_writer.write(
            path,
            [
                onnx_writer.node(
                    "If", ["has_past"], ["y"], "if", then_branch=branches[0], else_branch=branches[1]
                )
            ],
            [
                onnx_writer.value("x", "batch", "words"),
                onnx_writer.value("past", "batch", "past"),
                onnx_writer.value("has_past", 1, element_type=9),
            ],
            [onnx_writer.value("y", "batch", "all")],
        )
        session = self.open(str(path))
        feed = {
            "x": numpy.ones((2, 3), numpy.float32),
            "past": numpy.zeros((0, 0), numpy.float32),
            "has_past": numpy.array([False]),
        }
        self.assertEqual(session.run(None, feed)[0].shape, (2, 3))
        with self.assertRaisesRegex(RuntimeError, "both"):
            session.run(None, {**feed, "has_past": numpy.array([True])})
        feed["past"] = numpy.zeros((2, 1), numpy.float32)
        feed["has_past"] = numpy.array([True])
        self.assertEqual(session.run(None, feed)[0].shape, (2, 4))

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


class CacheTest(SessionTest):
    X = numpy.ones((2, 3), numpy.float32)

    def test_the_second_session_compiles_nothing(self):
        path = self.model()
        calls = self.compiles()
        self.open(path).run(None, {"x": self.X})
        self.open(path).run(None, {"x": self.X})
        self.open(pathlib.Path(path).read_bytes()).run(None, {"x": self.X})
        self.assertEqual(len(calls), 1, calls)
        self.assertEqual([each.suffix for each in self.oms()], [".om"])  # nothing else is left

    def test_what_goes_into_an_om_is_in_its_key(self):
        source = om_cache.Source(self.model())
        keys = {om_cache._key(source, ["--threads=1"])}
        keys.add(om_cache._key(source, ["--threads=2"]))
        keys.add(om_cache._key(om_cache.Source(self.model("other", "Abs")), ["--threads=1"]))
        soc = programs.versions()["soc"]
        snapshot = bank_places.root() / "op" / soc / "snapshot-1"
        snapshot.mkdir(parents=True)
        keys.add(om_cache._key(source, ["--threads=1"]))
        (snapshot.parent / "snapshot-12").mkdir()
        keys.add(om_cache._key(source, ["--threads=1"]))
        with unittest.mock.patch.object(
            programs, "versions", lambda _="": {"soc": soc, "engine": "aoe 9"}
        ):
            keys.add(om_cache._key(source, ["--threads=1"]))
        self.assertEqual(len(keys), 6)

    def test_weights_beside_the_model_are_content(self):
        path = self.folder / "external.onnx"
        onnx_writer.write(
            path,
            [onnx_writer.node("Add", ["x", "w"], ["y"], "n")],
            [onnx_writer.value("x", 2)],
            [onnx_writer.value("y", 2)],
            [onnx_writer.external("w", [2], "w.bin")],
        )
        for values in ([1, 2], [3, 4]):
            numpy.array(values, numpy.float32).tofile(self.folder / "w.bin")
            (y,) = self.open(str(path)).run(None, {"x": numpy.zeros(2, numpy.float32)})
            self.assertEqual(y.tolist(), values)

    def test_a_damaged_om_is_compiled_again(self):
        path = self.model()
        self.open(path).run(None, {"x": self.X})
        (om,) = self.oms()
        om.write_bytes(om.read_bytes()[:5000])
        self.assertEqual(self.open(path).run(None, {"x": self.X})[0].tolist(), self.X.tolist())
        self.assertGreater(om.stat().st_size, 5000)

    def test_a_cache_that_cannot_be_written_warns_once(self):
        (self.folder / "file").write_text("no directory")
        os.environ["AOE_CACHE_DIR"] = str(self.folder / "file" / "cache")
        path = self.model()
        with self.assertWarnsRegex(RuntimeWarning, "cannot be kept in .*AOE_CACHE_DIR"):
            self.open(path).run(None, {"x": self.X})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.open(path).run(None, {"x": self.X * 2})

    def test_a_disk_that_is_full_warns_once(self):
        run = programs.run

        def full(name, *arguments, **keywords):
            if str(self.folder / "cache") in " ".join(map(str, arguments)):
                raise programs.ProgramError([name], 6, "atc: error: no space left on device")
            return run(name, *arguments, **keywords)

        with unittest.mock.patch.object(programs, "run", full):
            with self.assertWarnsRegex(RuntimeWarning, "no space left"):
                self.open(self.model()).run(None, {"x": self.X})
        self.assertEqual(self.oms(), [])

    def test_a_home_that_is_not_there_is_not_made(self):
        home = self.folder / "nobody"
        os.environ.update(HOME=str(home))
        del os.environ["AOE_CACHE_DIR"]
        with self.assertWarnsRegex(RuntimeWarning, "cannot be kept in .*no home directory.*nobody"):
            session = self.open(self.model(shape=(2,)))
        session.run(None, {"x": numpy.ones(2, numpy.float32)})
        self.assertFalse(home.exists())

    def test_without_home_it_is_the_users(self):
        user = pwd.getpwuid(os.getuid()).pw_dir
        for variables in ({"HOME": ""}, {}):
            os.environ.pop("HOME")
            os.environ.update(variables)
            self.assertEqual(om_cache._default_directory(), os.path.join(user, ".cache", "aoe"))
            self.assertEqual(
                bank_places.root(), pathlib.Path(user) / "Ascend/latest/data/aoe/custom"
            )

    def test_without_a_cache(self):
        session = self.open(self.model(), providers=[("AoeExecutionProvider", {"cache_dir": ""})])
        session.run(None, {"x": self.X})
        self.assertFalse((self.folder / "cache").exists())

    def test_the_least_recently_used_goes(self):
        session = self.open(self.model(), providers=[("AoeExecutionProvider", {"own_shapes": 8})])
        sizes = []
        for rows in (1, 2, 3):
            session.run(None, {"x": self.X[:1].repeat(rows, 0)})
            sizes.append(len(self.oms()))
            os.utime(self.oms()[0])
        self.assertEqual(sizes, [1, 2, 3])
        os.environ["AOE_CACHE_LIMIT_MB"] = "0"
        session.run(None, {"x": self.X[:1].repeat(4, 0)})
        self.assertEqual(len(self.oms()), 1)

    def test_two_processes_at_once(self):
        path = self.model()
        program = (
            "import sys, numpy, aoe\n"
            "s = aoe.InferenceSession(sys.argv[1])\n"
            "print(s.run(None, {'x': numpy.ones((2, 3), numpy.float32)})[0].sum())\n"
        )
        both = [
            subprocess.Popen(
                [sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True
            )
            for _ in range(2)
        ]
        self.assertEqual([each.communicate()[0].strip() for each in both], ["6.0", "6.0"])
        self.assertEqual([each.suffix for each in self.oms()], [".om"])


class OpenSizesTest(SessionTest):
    def cache_model(self):
        """A cache that grows by what comes, and their sums with it."""
        path = self.folder / "grows.onnx"
        onnx_writer.write(
            path,
            [
                onnx_writer.node("Concat", ["past", "x"], ["present"], "grow", axis=1),
                onnx_writer.node("MatMul", ["present", "w"], ["y"], "product"),
            ],
            [onnx_writer.value("past", 1, "past", 3), onnx_writer.value("x", 1, "new", 3)],
            [onnx_writer.value("present", 1, -1, 3), onnx_writer.value("y", 1, -1, 2)],
            initializers=[onnx_writer.tensor("w", [3, 2], [1, 2, 3, 4, 5, 6])],
        )
        return str(path)

    def test_a_cache_that_grows_is_compiled_three_times(self):
        session = self.open(self.cache_model())
        weights = numpy.array([[1, 2], [3, 4], [5, 6]], numpy.float32)
        past = numpy.zeros((1, 0, 3), numpy.float32)
        for step in range(12):
            x = numpy.full((1, 1 if step else 4, 3), step, numpy.float32)
            y, present = session.run(["y", "present"], {"past": past, "x": x})
            numpy.testing.assert_array_equal(present, numpy.concatenate([past, x], 1))
            numpy.testing.assert_allclose(y, present @ weights, rtol=1e-5)
            past = present
        self.assertEqual(len(self.oms()), 3)

    def test_bound_memory_is_taken_by_the_om_with_open_sizes(self):
        session = self.open(self.model(), providers=[("AoeExecutionProvider", {"own_shapes": 0})])
        for rows in (1, 2, 5):
            x = numpy.linspace(-1, 1, rows * 3, dtype=numpy.float32).reshape(rows, 3)
            y = numpy.empty_like(x)
            binding = session.io_binding()
            binding.bind_cpu_input("x", x)
            binding.bind_output(
                "y", "cpu", 0, numpy.float32, y.shape, y.__array_interface__["data"][0]
            )
            session.run_with_iobinding(binding)
            numpy.testing.assert_array_equal(y, numpy.maximum(x, 0))
        self.assertEqual(len(self.oms()), 2)

    def test_a_model_that_needs_sizes_is_compiled_for_each(self):
        session = self.open(self.model(), providers=[("AoeExecutionProvider", {"own_shapes": 1})])
        compiled = session._cache.om

        def refusing(source, flags):
            if any("-1" in flag for flag in flags):
                raise programs.ProgramError(["atc"], 3, "atc: error: it needs sizes")
            return compiled(source, flags)

        with unittest.mock.patch.object(session._cache, "om", refusing):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for rows in (1, 2, 3, 4):
                    x = numpy.ones((rows, 3), numpy.float32)
                    self.assertEqual(session.run(None, {"x": x})[0].tolist(), x.tolist())
        self.assertEqual(len(caught), 1)
        self.assertIn("it needs sizes", str(caught[0].message))
        self.assertEqual(len(self.oms()), 4)

    def test_what_two_steps_have_alike_stays_known(self):
        sizes = open_sizes.OpenSizes(own_at_once=2, most_loaded=8)
        step = lambda words, past: ((1, words), (1, past, 64))
        for shapes in (step(16, 0), step(1, 16)):
            self.assertEqual(sizes.key(shapes), shapes)
        for past in (17, 18, 40):
            self.assertEqual(sizes.key(step(1, past)), step(1, open_sizes.OPEN))
        self.assertEqual(sizes.key(step(5, 0)), step(open_sizes.OPEN, open_sizes.OPEN))
        self.assertEqual(sizes.key(step(1, 41)), step(1, open_sizes.OPEN))
        self.assertEqual(sizes.key(step(16, 0)), step(16, 0))

    def test_a_shape_that_keeps_coming_gets_its_own(self):
        sizes = open_sizes.OpenSizes(own_at_once=1, most_loaded=3)
        shape = lambda rows: ((rows, 3),)
        self.assertEqual(sizes.key(shape(1)), shape(1))
        self.assertEqual(sizes.key(shape(2)), shape(open_sizes.OPEN))
        for _ in range(16):
            last = sizes.key(shape(2))
        self.assertEqual(last, shape(2))
        for _ in range(40):  # there is room for one more and the open one, no more
            last = sizes.key(shape(3))
        self.assertEqual(last, shape(open_sizes.OPEN))
        self.assertEqual(sizes.key(((2, 5),)), ((open_sizes.OPEN, open_sizes.OPEN),))
        self.assertEqual(sizes.key(shape(1)), shape(1))


class ThreadsTest(SessionTest):
    def test_many_threads_with_many_shapes(self):
        session = self.open(self.model(), providers=[("AoeExecutionProvider", {"max_shapes": 2})])

        def work(number):
            rows = 1 + number % 4
            x = numpy.full((rows, 3), number, numpy.float32)
            return session.run(None, {"x": x})[0].tolist() == x.tolist()

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(pool.map(work, range(64))))
        self.assertLessEqual(len(session._shapes), 2)

    def test_a_shape_that_is_compiled_keeps_nobody_else_waiting(self):
        session = self.open(self.model())
        small, large = (numpy.ones((rows, 3), numpy.float32) for rows in (1, 2))
        session.run(None, {"x": small})
        entered, go_on = threading.Event(), threading.Event()
        compiled = session._cache.om

        def slow(source, flags):
            entered.set()
            go_on.wait(60)
            return compiled(source, flags)

        with unittest.mock.patch.object(session._cache, "om", slow):
            results = []
            waiting = threading.Thread(
                target=lambda: results.append(session.run(None, {"x": large}))
            )
            waiting.start()
            self.assertTrue(entered.wait(60))
            self.assertEqual(session.run(None, {"x": small})[0].tolist(), small.tolist())
            self.assertEqual(results, [])
            go_on.set()
            waiting.join()
        self.assertEqual(results[0][0].tolist(), large.tolist())


class LoadedShapesTest(unittest.TestCase):
    class Model:
        def __init__(self, shape):
            self.shape, self.is_loaded = shape, True

        def unload(self):
            assert self.is_loaded
            self.is_loaded = False

    def setUp(self):
        self.made = []

        def make(shape):
            self.made.append(self.Model(shape))
            return self.made[-1]

        self.shapes = loaded_shapes.LoadedShapes(2, make)

    def test_the_least_recently_used_is_unloaded(self):
        for shape in (1, 2, 1, 3):
            with self.shapes.use(shape):
                pass
        self.assertEqual(
            [(each.shape, each.is_loaded) for each in self.made], [(1, True), (2, False), (3, True)]
        )

    def test_what_is_idle_is_unloaded(self):
        self.shapes = loaded_shapes.LoadedShapes(5, self.shapes._make, idle_uses=3)
        for shape in (1, 2, 3, 1, 2, 1, 2):
            with self.shapes.use(shape):
                pass
        self.assertEqual(
            [(each.shape, each.is_loaded) for each in self.made], [(1, True), (2, True), (3, False)]
        )
        with self.shapes.use(3) as model:
            self.assertTrue(model.is_loaded)

    def test_what_is_in_use_stays(self):
        with self.shapes.use(1) as first, self.shapes.use(2), self.shapes.use(3):
            self.assertTrue(all(each.is_loaded for each in self.made))
            self.shapes.close()
            self.assertTrue(first.is_loaded)
        self.assertFalse(any(each.is_loaded for each in self.made))

    def test_what_could_not_be_made_is_tried_again(self):
        failing = loaded_shapes.LoadedShapes(
            2, unittest.mock.Mock(side_effect=[ValueError, self.Model(1)])
        )
        with self.assertRaises(ValueError), failing.use(1):
            pass
        self.assertEqual(len(failing), 0)
        with failing.use(1) as model:
            self.assertTrue(model.is_loaded)


if __name__ == "__main__":
    unittest.main()
