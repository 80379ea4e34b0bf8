"""Writes small ONNX models field by field, sound ones and such as no ONNX library would write."""

import struct

FLOAT, UINT8, INT8, INT32, INT64, STRING, BOOL = 1, 2, 3, 6, 7, 8, 9


def varint(number):
    encoded = b""
    while number > 0x7F:
        encoded += bytes([number & 0x7F | 0x80])
        number >>= 7
    return encoded + bytes([number])


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def number(field, value):
    return varint(field << 3) + varint(value)


def attribute(key, value):
    """A number, a text, a graph(), or a list of numbers or of texts."""
    if isinstance(value, bytes):
        return block(1, key) + block(6, value) + number(20, 5)
    if isinstance(value, str):
        return block(1, key) + block(4, value) + number(20, 3)
    if not isinstance(value, list):
        return block(1, key) + number(3, value) + number(20, 2)
    if isinstance(value[0], str):
        return block(1, key) + b"".join(block(9, each) for each in value) + number(20, 8)
    if isinstance(value[0], float):
        floats = b"".join(varint(7 << 3 | 5) + struct.pack("<f", each) for each in value)
        return block(1, key) + floats + number(20, 6)
    return block(1, key) + b"".join(number(8, each) for each in value) + number(20, 7)


def node(op_type, inputs, outputs, name, domain="", **attributes):
    return (b"".join(block(1, i) for i in inputs) + b"".join(block(2, o) for o in outputs)
            + block(3, name) + block(4, op_type) + b"".join(block(5, attribute(*a)) for a in attributes.items())
            + (block(7, domain) if domain else b""))


def tensor(name, shape, values, element_type=FLOAT):
    """An initializer of FLOAT or INT64."""
    letter = {FLOAT: "f", INT64: "q"}[element_type]
    return raw_tensor(name, shape, struct.pack(f"<{len(values)}{letter}", *values), element_type)


def raw_tensor(name, shape, data, element_type):
    """An initializer whose bytes are `data`."""
    dims = b"".join(number(1, dim) for dim in shape)
    return dims + number(2, element_type) + block(8, name) + block(9, data)


def dimension(dim):
    """A size, -1 for one that is left open, its name, or (its name, what it denotes)."""
    if isinstance(dim, int):
        return b"" if dim == -1 else number(1, dim)
    name, denotation = (dim, "") if isinstance(dim, str) else dim
    return block(2, name) + block(3, denotation)


def value(name, *shape, element_type=FLOAT, denotation=""):
    """An input or output; its dimensions are as of dimension()."""
    dims = b"".join(block(1, dimension(dim)) for dim in shape)
    denoted = block(6, denotation) if denotation else b""
    return block(1, name) + block(2, block(1, number(1, element_type) + block(2, dims)) + denoted)


def external(name, dims, file):
    """An initializer of FLOAT whose data are all of a file beside the model."""
    place = block(1, "location") + block(2, file)
    return (b"".join(number(1, dim) for dim in dims) + number(2, FLOAT) + block(8, name) + block(13, place)
            + number(14, 1))


def list_of_maps(name, key_type=INT64):
    """An output whose type is seq(map(key, tensor(float)))."""
    scalar = block(1, number(1, FLOAT))
    return block(1, name) + block(2, block(4, block(1, block(5, number(1, key_type) + block(2, scalar)))))


def graph(nodes, inputs, outputs, initializers=(), name="g"):
    return (b"".join(block(1, n) for n in nodes) + block(2, name) + b"".join(block(5, i) for i in initializers)
            + b"".join(block(11, i) for i in inputs) + b"".join(block(12, o) for o in outputs))


def write(path, nodes, inputs, outputs, initializers=(), opset=13, domains=(), name="g"):
    with open(path, "wb") as file:
        file.write(number(1, 8) + block(7, graph(nodes, inputs, outputs, initializers, name)) + block(8, number(2, opset))
                   + b"".join(block(8, block(1, domain) + number(2, 1)) for domain in domains))
