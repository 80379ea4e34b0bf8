"""The model that a program gives, with what weights SessionOptions have instead of its own."""

import os
import pathlib

from .errors import InvalidArgument, NoSuchFile
from .om_cache import Source
from .onnx_border import external_place, raw_fields, read, text_of
from .onnx_fields import block, tensor

_GRAPH, _INITIALIZER = 7, 5
_NAME, _RAW_DATA, _EXTERNAL, _LOCATION = 8, 9, 13, 14


def checked(path_or_bytes):
    """A path that is there, or bytes. TypeError, NoSuchFile."""
    if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
        return bytes(path_or_bytes)
    if not isinstance(path_or_bytes, (str, os.PathLike)):
        raise TypeError(f"a model is a path or bytes, not {type(path_or_bytes).__name__}")
    path = os.fspath(path_or_bytes)
    if os.path.isdir(path):
        raise NoSuchFile(f"{path} is a directory; give a model's file")
    if not os.path.isfile(path):
        raise NoSuchFile(f"there is no model {path}")
    return path


def source_of(path_or_bytes, options):
    """To compile: what checked() gives, with the weights that SessionOptions have."""
    if not options._initializers and not options._files:
        return Source(path_or_bytes)
    is_path = isinstance(path_or_bytes, str)
    content = pathlib.Path(path_or_bytes).read_bytes() if is_path else path_or_bytes
    read(content)  # says what is wrong with it
    content = with_given(content, options._initializers, options._files)
    return Source(content, pathlib.Path(path_or_bytes).parent if is_path else None)


def with_given(content, values, files):
    """The model of these bytes. `values`: {name: OrtValue}; `files`: {name: content} of those that
    its weights refer to. InvalidArgument: it has no such initializer."""
    missing = set(values)
    parts = []
    for field, value, raw in raw_fields(memoryview(content)):
        if field == _GRAPH:
            raw = block(_GRAPH, _graph(value, values, files, missing))
        parts.append(raw)
    if missing:
        raise InvalidArgument(f"the model has no initializer {', '.join(sorted(missing))}")
    return b"".join(parts)


def _graph(graph, values, files, missing):
    parts = []
    for field, value, raw in raw_fields(graph):
        if field == _INITIALIZER:
            fields = list(raw_fields(value))
            name = next((text_of(part) for at, part, _ in fields if at == _NAME), "")
            place = external_place([(at, part) for at, part, _ in fields])
            if name in values:
                missing.discard(name)
                raw = block(_INITIALIZER, _tensor(name, values[name]))
            elif place.get("location") in files:
                raw = block(_INITIALIZER, _with_data(fields, _slice(files, place)))
        parts.append(raw)
    return b"".join(parts)


def _tensor(name, value):
    array = value.numpy()
    return tensor(name, array.shape, value.element_type(), array.tobytes())


def _with_data(fields, data):
    kept = b"".join(raw for at, _, raw in fields if at not in (_EXTERNAL, _LOCATION))
    return kept + block(_RAW_DATA, data)


def _slice(files, place):
    content = memoryview(files[place["location"]])
    begin = int(place.get("offset", 0))
    end = begin + int(place["length"]) if "length" in place else len(content)
    if end > len(content):
        raise InvalidArgument(f"{place['location']} has {len(content)} bytes, {end} are needed")
    return content[begin:end]
