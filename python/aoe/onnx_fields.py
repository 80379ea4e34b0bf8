"""The fields that an ONNX model is written with."""


def block(field, content):
    """A text, bytes, or a message."""
    content = content.encode() if isinstance(content, str) else bytes(content)
    return varint(field << 3 | 2) + varint(len(content)) + content


def number(field, value):
    return varint(field << 3) + varint(value)


def varint(value):
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(encoded) + bytes([value])


def tensor(name, dims, element_type, raw_data):
    """TensorProto."""
    sizes = b"".join(number(1, size) for size in dims)
    return sizes + number(2, element_type) + block(8, name) + block(9, raw_data)
