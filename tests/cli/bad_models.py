"""Writes small ONNX models that each have one fault."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from onnx_writer import node, value, write

write("unsupported.onnx",
      [node("FancyThing", ["x"], ["y"], "odd_one"), node("OtherThing", ["y"], ["z"], "odd_two")],
      [value("x", 1, 3)], [value("z", 1, 3)])
write("contradiction.onnx", [node("MatMul", ["a", "b"], ["y"], "mm")],
      [value("a", 2, 3), value("b", 4, 5)], [value("y", 2, 5)])
write("declared.onnx", [node("Relu", ["a"], ["y"], "r")], [value("a", 2, 3)], [value("y", 7, 5)])
write("mistyped.onnx", [node("Shape", ["a"], ["y"], "s")], [value("a", 2, 3)], [value("y", 2)])
write("dangling.onnx", [node("Relu", ["q"], ["y"], "r")], [value("a", 2, 3)], [value("y", 2, 3)])
