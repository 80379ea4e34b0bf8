"""Writes small ONNX models that each have one fault, field by field: no ONNX library would write them."""


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


def node(op_type, inputs, outputs, name):
    return (b"".join(block(1, i) for i in inputs) + b"".join(block(2, o) for o in outputs)
            + block(3, name) + block(4, op_type))


def value(name, *shape):
    dims = b"".join(block(1, number(1, dim)) for dim in shape)
    return block(1, name) + block(2, block(1, number(1, 1) + block(2, dims)))  # float32


def write(path, nodes, inputs, outputs):
    graph = (b"".join(block(1, n) for n in nodes) + block(2, "g")
             + b"".join(block(11, i) for i in inputs) + b"".join(block(12, o) for o in outputs))
    with open(path, "wb") as file:
        file.write(number(1, 8) + block(7, graph) + block(8, number(2, 13)))


write("unsupported.onnx",
      [node("FancyThing", ["x"], ["y"], "odd_one"), node("OtherThing", ["y"], ["z"], "odd_two")],
      [value("x", 1, 3)], [value("z", 1, 3)])
write("contradiction.onnx", [node("MatMul", ["a", "b"], ["y"], "mm")],
      [value("a", 2, 3), value("b", 4, 5)], [value("y", 2, 5)])
write("declared.onnx", [node("Relu", ["a"], ["y"], "r")], [value("a", 2, 3)], [value("y", 7, 5)])
write("dangling.onnx", [node("Relu", ["q"], ["y"], "r")], [value("a", 2, 3)], [value("y", 2, 3)])
