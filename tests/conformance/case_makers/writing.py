"""Writing a case: one node, or a few, with inputs and expected outputs."""
import json
import math
import pathlib
import re

import numpy as np

HERE = pathlib.Path(__file__).parent.parent / "cases"
MS = "com.microsoft"
rng = np.random.default_rng(20261122)


def rand(*shape, dtype=np.float32):
    return rng.uniform(-1, 1, shape).astype(dtype)


def node(op, inputs, outputs, domain="", **attributes):
    return {"op_type": op, "domain": domain, "inputs": list(inputs), "outputs": list(outputs), "attributes": attributes}


class Packed:
    """An initializer of a type that numpy does not have: its codes, each of `bits`."""

    def __init__(self, onnx_type, bits, codes):
        self.onnx_type, self.bits, self.codes = onnx_type, bits, np.asarray(codes)


def tensor(value):
    if isinstance(value, Packed):
        flat = value.codes.reshape(1, -1).astype(np.int64) & ((1 << value.bits) - 1)
        return {"onnx_type": value.onnx_type, "shape": list(value.codes.shape), "packed": pack(flat, value.bits)[0].tolist()}
    value = np.asarray(value)
    data = value.reshape(-1).tolist()
    if value.dtype.kind == "f":
        data = [x if math.isfinite(x) else str(x) for x in (float(f"{x:.9g}") for x in data)]
    return {"dtype": {"bool": "bool"}.get(value.dtype.name, value.dtype.name), "shape": list(value.shape), "data": data}


def write(name, nodes, inputs, outputs, constants=(), opset=28):
    case = {"name": name, "opset": opset, "nodes": nodes, "constants": list(constants),
            "inputs": {k: tensor(v) for k, v in inputs.items()}, "outputs": {k: tensor(v) for k, v in outputs.items()}}
    lines = json.dumps(case, indent=1)
    # A tensor stands on one line.
    lines = re.sub(r"\[[^\[\]{}]*\]", lambda m: re.sub(r"\s+", " ", m.group(0)), lines)
    (HERE / f"{name}.json").write_text(lines + "\n")


def case(name, op, inputs, outputs, domain="", constants=(), **attributes):
    """Inputs in order; None leaves one out."""
    names = [k if v is not None else "" for k, v in inputs.items()]
    outs = [k if v is not None else "" for k, v in outputs.items()]
    write(name, [node(op, names, outs, domain, **attributes)], {k: v for k, v in inputs.items() if v is not None},
          {k: v for k, v in outputs.items() if v is not None}, constants)


def pack(values, bits):
    """Rows of small integers, the first in the lowest bits."""
    per_byte = 8 // bits
    width = -(-values.shape[1] // per_byte) * per_byte
    padded = np.zeros((values.shape[0], width), np.uint8)
    padded[:, :values.shape[1]] = values
    parts = padded.reshape(values.shape[0], -1, per_byte)
    return sum(parts[:, :, i].astype(np.uint16) << (bits * i) for i in range(per_byte)).astype(np.uint8)


def graph(inputs, outputs, nodes, **constants):
    """A body: inputs are names with dtype and shape (None: not known; of a sequence), constants are numpy values."""
    return {"graph": {"inputs": [{"name": n, "dtype": d, "shape": s} for n, d, s in inputs], "outputs": list(outputs),
                      "nodes": nodes, "constants": {k: tensor(v) for k, v in constants.items()}}}


INTS = {"uint4": (21, 4, 0), "int4": (22, 4, -8), "uint2": (25, 2, 0), "int2": (26, 2, -2)}
FLOATS = {"float8e4m3fn": (17, 8, (4, 3, 7)), "float8e4m3fnuz": (18, 8, (4, 3, 8)), "float8e5m2": (19, 8, (5, 2, 15)),
          "float8e5m2fnuz": (20, 8, (5, 2, 16)), "float4e2m1": (23, 4, (2, 1, 1))}
ML = "ai.onnx.ml"
