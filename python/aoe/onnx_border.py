"""What an ONNX model takes and gives: names, types, shapes with their symbols, from its own bytes.

Only what is asked for is decoded; nodes and weights are stepped over, so that a large model costs
no more than its pages. Nothing else of the package needs to understand ONNX: atc does.
"""

import dataclasses
import mmap
import os
import typing

from . import element_types, foreign_files
from .errors import InvalidProtobuf

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
# Fields of ModelProto and what is below it, by message.
_GRAPH, _METADATA = 7, 14
_MODEL_TEXTS = {2: "producer_name", 4: "domain", 6: "description"}
_MODEL_VERSION = 5
_INITIALIZER, _GRAPH_NAME, _GRAPH_DESCRIPTION, _INPUT, _OUTPUT = 5, 2, 10, 11, 12
_SPARSE_INITIALIZER = 15
_TENSOR_NAME, _TENSOR_EXTERNAL = 8, 13
_NODE, _NODE_OUTPUT, _NODE_TYPE, _NODE_ATTRIBUTE = 1, 2, 4, 5
_ATTRIBUTE_INTS, _ATTRIBUTE_STRINGS = 8, 9
_FLOAT = 1
_TYPE_DENOTATION = 6  #: of a type: "IMAGE"
UNDEFINED = "tensor(undefined)"


@dataclasses.dataclass(frozen=True)
class Value:
    """An input or output of the graph."""

    name: str
    type: str  #: "tensor(float)"
    #: an int where the size is fixed, a str where it has a name, None where it has neither
    shape: typing.Tuple[typing.Union[int, str, None], ...]
    element_type: typing.Optional[element_types.ElementType]  #: None: no tensor that numpy knows
    has_rank: bool = True
    #: what each dimension stands for, such as "DATA_BATCH"; "" where the file does not say
    denotations: typing.Tuple[str, ...] = ()
    #: of a list of dicts, one for each row of the tensor that the model computes: their keys
    labels: typing.Tuple[typing.Union[int, str], ...] = ()


@dataclasses.dataclass
class Border:
    inputs: typing.List[Value] = dataclasses.field(default_factory=list)
    outputs: typing.List[Value] = dataclasses.field(default_factory=list)
    overridable: typing.List[Value] = dataclasses.field(default_factory=list)
    external_files: typing.Set[str] = dataclasses.field(default_factory=set)
    producer_name: str = ""
    domain: str = ""
    description: str = ""
    version: int = 0
    graph_name: str = ""
    graph_description: str = ""
    metadata: typing.Dict[str, str] = dataclasses.field(default_factory=dict)


def read_file(path):
    """OSError, InvalidProtobuf."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise InvalidProtobuf(f"{path} is empty")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            with memoryview(content) as view:
                return read(view, path)


def read(content, where="the model"):
    """The border of the model in these bytes. InvalidProtobuf."""
    try:
        return _border(memoryview(content))
    except (IndexError, UnicodeDecodeError, _Malformed) as error:
        reason = str(error)
    # Here, where nothing of the failure holds on to a file that is to be closed.
    kind = foreign_files.kind_of(content)
    raise InvalidProtobuf(
        f"{where} is {kind}" if kind else f"{where} is no ONNX model, or a damaged one ({reason})"
    )


class _Malformed(Exception):
    pass


def _border(content):
    border = Border()
    graph = None
    for field, value in _fields(content):
        if field in _MODEL_TEXTS:
            setattr(border, _MODEL_TEXTS[field], text_of(value))
        elif field == _MODEL_VERSION:
            border.version = value
        elif field == _METADATA:
            key, text = _pair(value)
            border.metadata[key] = text
        elif field == _GRAPH:
            graph = value
    if not isinstance(graph, memoryview):
        raise _Malformed("it has no graph")
    _read_graph(graph, border)
    return border


def _read_graph(graph, border):
    inputs, initializers, nodes = [], set(), []
    for field, value in _fields(graph):
        if field == _GRAPH_NAME:
            border.graph_name = text_of(value)
        elif field == _GRAPH_DESCRIPTION:
            border.graph_description = text_of(value)
        elif field == _INPUT:
            inputs.append(_value(value))
        elif field == _OUTPUT:
            border.outputs.append(_value(value))
        elif field == _NODE:
            nodes.append(value)
        elif field == _INITIALIZER:
            initializers.add(_tensor(value, border.external_files))
        elif field == _SPARSE_INITIALIZER:
            initializers.update(_tensor(part, set()) for at, part in _fields(value) if at == 1)
    # Before version 4 of the format, every initializer stood among the inputs as well.
    border.inputs = [each for each in inputs if each.name not in initializers]
    border.overridable = [each for each in inputs if each.name in initializers]
    border.outputs = [_with_labels(each, nodes) for each in border.outputs]


def _with_labels(value, nodes):
    """An output of ZipMap, which compiled models give as a tensor: its columns go by these labels."""
    if not value.type.startswith("seq(map("):
        return value
    for node in nodes:
        fields = list(_fields(node))
        texts = {field: text_of(part) for field, part in fields if field in (_NODE_OUTPUT, _NODE_TYPE)}
        if texts.get(_NODE_TYPE) != "ZipMap" or texts.get(_NODE_OUTPUT) != value.name:
            continue
        labels = [label for at, part in fields if at == _NODE_ATTRIBUTE for label in _labels(part)]
        kind = element_types.of_onnx(_FLOAT)
        return dataclasses.replace(value, element_type=kind, labels=tuple(labels))
    return value


def _labels(attribute):
    """Of one of ZipMap's attributes, classlabels_int64s or classlabels_strings."""
    for field, part in _fields(attribute):
        if field == _ATTRIBUTE_STRINGS:
            yield text_of(part)
        elif field == _ATTRIBUTE_INTS and isinstance(part, int):
            yield part if part < 1 << 63 else part - (1 << 64)
        elif field == _ATTRIBUTE_INTS:  # packed
            at = 0
            while at < len(part):
                number, at = _varint(part, at)
                yield number if number < 1 << 63 else number - (1 << 64)


def _tensor(message, external_files):
    """The name of a TensorProto; adds the file that its data lie in."""
    fields = list(_fields(message))
    place = external_place(fields)
    if "location" in place:
        external_files.add(place["location"])
    return next((text_of(value) for field, value in fields if field == _TENSOR_NAME), "")


def external_place(fields):
    """Where the data of a TensorProto lie: location, offset, length; nothing: in itself."""
    return dict(_pair(value) for field, value in fields if field == _TENSOR_EXTERNAL)


def _value(message):
    name, kind = "", UNDEFINED
    shape, element_type, has_rank, denotations = (), None, False, ()
    for field, value in _fields(message):
        if field == 1:
            name = text_of(value)
        elif field == 2:
            for which, content in _fields(value):
                if which == 1:
                    kind, element_type, shape, has_rank, denotations = _tensor_type(content)
                elif which != _TYPE_DENOTATION:
                    kind = _compound_type(which, content)
    return Value(name, kind, shape, element_type, has_rank, denotations)


def _compound_type(which, content):
    """As ONNX Runtime writes it: "seq(map(int64,tensor(float)))"."""
    parts = dict(_fields(content))
    if which == 4:
        inner = [_compound_type(*each) for each in _fields(parts.get(1, memoryview(b"")))]
        return f"seq({inner[0] if inner else ''})"
    if which == 5:
        key = "string" if parts.get(1) == 8 else "int64"
        inner = [_compound_type(*each) for each in _fields(parts.get(2, memoryview(b"")))]
        return f"map({key},{inner[0] if inner else ''})"
    if which == 1:
        return _tensor_type(content)[0]
    return {8: "sparse_tensor(...)", 9: "optional(...)"}.get(which, UNDEFINED)


def _tensor_type(message):
    number, dimensions, has_rank = 0, [], False
    for field, value in _fields(message):
        if field == 1:
            number = value
        elif field == 2:
            has_rank = True
            dimensions = [_dimension(part) for at, part in _fields(value) if at == 1]
    found = element_types.of_onnx(number)
    kind = found.text if found else f"tensor({number})" if number else UNDEFINED
    shape, denotations = zip(*dimensions) if dimensions else ((), ())
    return kind, found, shape, has_rank, denotations


def _dimension(message):
    """Its size and its denotation."""
    size, denotation = None, ""
    for field, value in _fields(message):
        if field == 1:
            size = value if value < 1 << 63 else None  # negative: as good as unknown
        elif field == 2:
            size = text_of(value) or None
        elif field == 3:
            denotation = text_of(value)
    return size, denotation


def _pair(message):
    texts = {field: text_of(value) for field, value in _fields(message) if field in (1, 2)}
    return texts.get(1, ""), texts.get(2, "")


def text_of(value):
    if not isinstance(value, memoryview):
        raise _Malformed("a text is a number")
    return str(value, "utf-8")


def _fields(message):
    """(number, value) of each field: an int, or the bytes of what is longer."""
    for field, value, _ in raw_fields(message):
        yield field, value


def raw_fields(message):
    """As _fields(), with all bytes of each."""
    if not isinstance(message, memoryview):
        raise _Malformed("a message is a number")
    at, end = 0, len(message)
    while at < end:
        begin = at
        key, at = _varint(message, at)
        field, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(message, at)
        elif wire == _BYTES:
            size, at = _varint(message, at)
            value, at = message[at : at + size], at + size
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
            value, at = int.from_bytes(message[at : at + size], "little"), at + size
        else:
            raise _Malformed(f"wire type {wire}")
        if field == 0 or at > end:
            raise _Malformed("a field reaches behind its message")
        yield field, value, message[begin:at]


def _varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise _Malformed("a number of more than 64 bits")
