"""Models of elementwise operators: `write` makes behind.onnx (each behind a convolution of its own) and alone.onnx (of
integers and bool) with their inputs; `check DIR...` compares outputs with what NumPy gives.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from onnx_writer import BOOL, INT32, node, tensor, value, write

IMAGE, CHANNELS, FILTERS = 7, 4, 20
rng = np.random.default_rng(3)
# Eighths: sums of products are exact in any order, so that a step or a pole lies where it lies for NumPy.
x = (rng.integers(-16, 17, (1, CHANNELS, IMAGE, IMAGE)) / 8).astype(np.float32)
a = rng.integers(-50, 50, (6, 21)).astype(np.int32)
b = rng.integers(-4, 5, (6, 21)).astype(np.int32)
b[0, :7] = 0

BEHIND = {"Sin": np.sin, "Cos": np.cos, "Tan": np.tan, "Asin": np.arcsin, "Acos": np.arccos, "Atan": np.arctan,
          "Sinh": np.sinh, "Cosh": np.cosh, "Asinh": np.arcsinh, "Acosh": np.arccosh, "Atanh": np.arctanh,
          "Round": np.rint, "Ceil": np.ceil, "Sign": np.sign, "Softsign": lambda v: v / (1 + np.abs(v)),
          "Mod": lambda v: np.fmod(v, 0.75), "Pow": lambda v: np.power(v, 2.5)}
SECOND = {"Mod": 0.75, "Pow": 2.5}


def quotient(p, q):
    """Toward zero; 0 where q is 0."""
    safe = np.where(q == 0, 1, q)
    return np.where(q == 0, 0, (np.abs(p) // np.abs(safe)) * np.sign(p) * np.sign(safe)).astype(p.dtype)


def remainder(p, q):
    """With the sign of q; 0 where q is 0."""
    return np.where(q == 0, 0, p - np.floor_divide(p, np.where(q == 0, 1, q)) * q).astype(p.dtype)


ALONE = {"Add": lambda: a + b, "Mul": lambda: a * b, "Div": lambda: quotient(a, b), "Mod": lambda: remainder(a, b),
         "Max": lambda: np.maximum(a, b), "Less": lambda: a < b, "Equal": lambda: a == b}


def weights(op):
    return (np.random.default_rng(sum(op.encode())).integers(-4, 5, (FILTERS, CHANNELS, 2, 2)) / 8).astype(np.float32)


def convolved(op):
    w, size = weights(op).astype(np.float64), IMAGE - 1
    patches = np.stack([x[0, :, i:i + size, j:j + size] for i in (0, 1) for j in (0, 1)], axis=1)
    return np.einsum("cphw,ocp->ohw", patches, w.reshape(FILTERS, CHANNELS, 4))[None]


def write_models():
    nodes, outputs, constants = [], [], []
    for op in BEHIND:
        constants.append(tensor(f"w_{op}", (FILTERS, CHANNELS, 2, 2), weights(op).ravel().tolist()))
        operands = [f"conv_{op}"]
        if op in SECOND:
            constants.append(tensor(f"second_{op}", (), [SECOND[op]]))
            operands.append(f"second_{op}")
        nodes.append(node("Conv", ["x", f"w_{op}"], [f"conv_{op}"], f"conv_{op}"))
        nodes.append(node(op, operands, [op], op, **({"fmod": 1} if op == "Mod" else {})))
        outputs.append(value(op, 1, FILTERS, IMAGE - 1, IMAGE - 1))
    write("behind.onnx", nodes, [value("x", *x.shape)], outputs, constants)
    nodes = [node(op, ["a", "b"], [op], op) for op in ALONE] + [node("Not", ["Less"], ["Not"], "Not"),
                                                                node("And", ["Not", "Equal"], ["And"], "And")]
    outputs = [value(op, *a.shape, element_type=BOOL if op in ("Less", "Equal") else INT32) for op in ALONE]
    write("alone.onnx", nodes, [value(name, *a.shape, element_type=INT32) for name in ("a", "b")],
          outputs + [value("And", *a.shape, element_type=BOOL)])
    for name, array in {"x": x, "a": a, "b": b}.items():
        np.save(f"{name}.npy", array)


def check(folder, name, expected):
    got = np.load(f"{folder}/{name}.npy")
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(got, expected, rtol=3e-6, atol=1e-6, err_msg=name)
    else:
        np.testing.assert_array_equal(got, expected, err_msg=name)


np.seterr(all="ignore")
if sys.argv[1] == "write":
    write_models()
else:
    for op, function in BEHIND.items():
        check("behind", op, function(convolved(op)))
    for op, function in ALONE.items():
        check("alone", op, function())
    check("alone", "And", (a >= b) & (a == b))
    print(f"{len(BEHIND)} behind convolutions, {len(ALONE) + 1} alone")
