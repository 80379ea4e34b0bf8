"""Dataclasses from JSON: each value of the type that its field has, or BadResult."""

import dataclasses
import types
import typing


class BadResult(ValueError):
    """A file that is not what it should be."""


def read(cls, values):
    """Keys as fields; what is missing, or null, as its default."""
    if not isinstance(values, dict):
        raise BadResult(f"{cls.__name__} is {_shown(values)}, no object")
    given = {
        field.name: typed(field.type, values[field.name], f"{cls.__name__}.{field.name}")
        for field in dataclasses.fields(cls)
        if values.get(field.name) is not None
    }
    return cls(**given)


def typed(kind, value, where):
    """`value` as `kind`: a dataclass, a number, a text, a list, a tuple or an Optional of them."""
    arguments = [each for each in typing.get_args(kind) if each is not types.NoneType]
    origin = typing.get_origin(kind)
    if dataclasses.is_dataclass(kind):
        return read(kind, value)
    if origin is typing.Union:
        return typed(arguments[0], value, where)
    if origin is list and isinstance(value, list):
        return [typed(arguments[0], each, where) for each in value]
    if origin is tuple and isinstance(value, list) and len(value) == len(arguments):
        return tuple(typed(of, each, where) for of, each in zip(arguments, value))
    if kind is float and type(value) is int:
        return value
    if origin not in (list, tuple) and type(value) is (origin or kind):
        return value
    raise BadResult(f"{where} is {_shown(value)}, not {getattr(kind, '__name__', kind)}")


def _shown(value):
    return repr(value)[:60]
