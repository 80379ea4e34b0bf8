"""Small models that examples open: get_example("sigmoid.onnx") is the path of one.

They are made when they are asked for, and gone with the program.
"""

import atexit
import os
import shutil
import struct
import tempfile

from .onnx_fields import block, number, tensor, varint

_FLOAT, _INT64 = 1, 7
_folder = None


def get_example(name):
    """sigmoid.onnx: y = sigmoid(x); mul_1.onnx: Y = X * W; logreg_iris.onnx: which of three irises
    flowers are, and how likely, by length and width of their sepals. FileNotFoundError."""
    if name not in _MODELS:
        raise FileNotFoundError(f"there is no example {name}; there are {', '.join(_MODELS)}")
    path = os.path.join(_made_folder(), name)
    if not os.path.exists(path):
        with open(path, "wb") as file:
            file.write(_MODELS[name]())
    return path


def _made_folder():
    global _folder  # pylint: disable=global-statement
    if _folder is None:
        _folder = tempfile.mkdtemp(prefix="aoe_datasets_")
        atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    return _folder


def _sigmoid():
    return _model(
        "sigmoid",
        [_node("Sigmoid", ["x"], ["y"])],
        [_value("x", [3, 4, 5])],
        [_value("y", [3, 4, 5])],
    )


def _mul_1():
    weights = tensor("W", [3, 2], _FLOAT, struct.pack("<6f", 1, 2, 3, 4, 5, 6))
    return _model(
        "mul_1",
        [_node("Mul", ["X", "W"], ["Y"])],
        [_value("X", [3, 2])],
        [_value("Y", [3, 2])],
        [weights],
    )


def _logreg_iris():
    labels = [0, 1, 2]
    classifier = {
        "classlabels_ints": labels,
        "coefficients": [-2.709, 2.324, 0.613, -1.571, 2.096, -0.753],
        "intercepts": [7.913, 1.845, -9.758],
        "post_transform": "SOFTMAX",
    }
    outputs = ["label", "likely"]
    return _model(
        "logreg_iris",
        [
            _node("LinearClassifier", ["float_input"], outputs, "ai.onnx.ml", **classifier),
            _node("ZipMap", ["likely"], ["probabilities"], "ai.onnx.ml", classlabels_int64s=labels),
        ],
        [_value("float_input", ["rows", 2])],
        [_value("label", ["rows"], _INT64), block(1, "probabilities") + block(2, _maps())],
    )


_MODELS = {"sigmoid.onnx": _sigmoid, "mul_1.onnx": _mul_1, "logreg_iris.onnx": _logreg_iris}


def _model(name, nodes, inputs, outputs, initializers=()):
    parts = ((1, nodes), (5, initializers), (11, inputs), (12, outputs))
    graph = block(2, name) + b"".join(block(field, each) for field, many in parts for each in many)
    operators = block(8, number(2, 13)) + block(8, block(1, "ai.onnx.ml") + number(2, 1))
    return number(1, 7) + block(2, "aoe") + block(7, graph) + operators


def _node(op_type, inputs, outputs, domain="", **attributes):
    ends = b"".join(block(1, each) for each in inputs) + b"".join(block(2, each) for each in outputs)
    rest = b"".join(block(5, _attribute(*each)) for each in attributes.items())
    return ends + block(3, op_type) + block(4, op_type) + rest + block(7, domain)


def _attribute(name, value):
    if isinstance(value, str):
        return block(1, name) + block(4, value) + number(20, 3)
    if isinstance(value[0], float):
        floats = b"".join(varint(7 << 3 | 5) + struct.pack("<f", each) for each in value)
        return block(1, name) + floats + number(20, 6)
    return block(1, name) + b"".join(number(8, each) for each in value) + number(20, 7)


def _value(name, shape, element_type=_FLOAT):
    """A dimension is a size or a name."""
    dims = (number(1, dim) if isinstance(dim, int) else block(2, dim) for dim in shape)
    sizes = b"".join(block(1, dim) for dim in dims)
    return block(1, name) + block(2, block(1, number(1, element_type) + block(2, sizes)))


def _maps():
    """The type seq(map(int64, tensor(float)))."""
    number_type = block(1, number(1, _FLOAT))
    return block(4, block(1, block(5, number(1, _INT64) + block(2, number_type))))
