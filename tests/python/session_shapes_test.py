"""Shapes that come to an InferenceSession: open sizes, threads, and how many stay loaded."""

import concurrent.futures
import pathlib
import sys
import threading
import unittest
import unittest.mock
import warnings

import numpy
from session_case import SessionTest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer

from aoe import loaded_shapes, open_sizes, programs


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
