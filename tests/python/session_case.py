"""The base of tests of InferenceSession: a folder of their own, and models of one operator."""

import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import onnx_writer

import aoe as ort
from aoe import programs


class SessionTest(unittest.TestCase):
    """`self.folder` is fresh, and has the cache and the (empty) bank."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        variables = {"HOME": temporary.name, "AOE_CACHE_DIR": str(self.folder / "cache")}
        patch = unittest.mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)

    def oms(self):
        """The files of the cache."""
        return sorted(pathlib.Path(os.environ["AOE_CACHE_DIR"]).glob("*"))

    def model(self, name="model", op="Relu", shape=(-1, 3), output_shape=None, attributes=None, **types):
        """y = op(x)"""
        path = self.folder / f"{name}.onnx"
        onnx_writer.write(
            path,
            [onnx_writer.node(op, ["x"], ["y"], "node", **(attributes or {}))],
            [onnx_writer.value("x", *shape, **types)],
            [onnx_writer.value("y", *(output_shape or shape), **types)],
        )
        return str(path)

    def slow_model(self):
        """slow.onnx: LRN of float64 is on the reference, of which atc warns."""
        return self.model("slow", "LRN", (5, 3), attributes={"size": 1}, element_type=11)

    def open(self, *arguments, **keywords):
        session = ort.InferenceSession(*arguments, **keywords)
        self.addCleanup(session.close)
        return session

    def compiles(self):
        """Counts what is compiled from now on."""
        calls = []
        run = programs.run

        def counted(name, *arguments, **keywords):
            if not {"--version", f"--model={os.devnull}"} & set(arguments):
                calls.append((name, *arguments))
            return run(name, *arguments, **keywords)

        patch = unittest.mock.patch.object(programs, "run", counted)
        patch.start()
        self.addCleanup(patch.stop)
        return calls
