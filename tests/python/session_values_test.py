"""What InferenceSession takes and gives: shapes, types, names, and what does not fit."""

import pathlib
import sys
import unittest
import unittest.mock

import numpy
from session_case import SessionTest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer

import aoe as ort


class ValuesTest(SessionTest):
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


if __name__ == "__main__":
    unittest.main()
