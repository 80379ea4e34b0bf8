"""What a session takes and gives: of an om, or of an ONNX model with what is known of sizes."""

import dataclasses

from . import element_types
from .onnx_border import UNDEFINED, Border, Value


def shown_type(port):
    """Of the arrays that the caller gives or gets."""
    return element_types.TEXT if port.is_text else port.element_type


def _type_of(port):
    return {"type": shown_type(port).text, "element_type": shown_type(port)}


def border_of_om(model):
    def values(ports):
        return [
            Value(
                name=port.name,
                shape=tuple(None if size < 0 else size for size in port.shape),
                **_type_of(port),
            )
            for port in ports
        ]

    return Border(inputs=values(model.inputs), outputs=values(model.outputs), graph_name=model.name)


def with_sizes(border, options):
    """With those that SessionOptions give for names and denotations of dimensions."""

    def size_of(size, denotation):
        if isinstance(size, int):
            return size
        of_denotation = options._denotations.get(denotation, size) if denotation else size
        return options._dimensions.get(size, of_denotation)

    def sized(value):
        return dataclasses.replace(
            value, shape=tuple(map(size_of, value.shape, value.denotations))
        )

    return dataclasses.replace(
        border,
        inputs=[sized(value) for value in border.inputs],
        outputs=[sized(value) for value in border.outputs],
    )


def require_tensors(border):
    for value in border.inputs + border.outputs:
        is_inferred = value in border.outputs and value.type == UNDEFINED
        if value.element_type is None and not is_inferred:
            raise ValueError(f"{value.name} is {value.type}, which no array of numpy can be here")


def with_types(border, model):
    """With those of outputs whose types the file leaves to who compiles it."""
    ports = {port.name: port for port in model.outputs}

    def typed(value):
        if value.type != UNDEFINED:
            return value
        return dataclasses.replace(value, **_type_of(ports[value.name]))

    return dataclasses.replace(border, outputs=[typed(value) for value in border.outputs])


def is_fixed(value):
    return value.has_rank and all(isinstance(size, int) for size in value.shape)


def names_agree(values, shapes):
    """Whether dimensions to which the model gives one name have one size; "?" is none, as for atc."""
    sizes = {}
    return all(
        sizes.setdefault(name, size) == size
        for value, shape in zip(values, shapes)
        if value.has_rank
        for name, size in zip(value.shape, shape)
        if isinstance(name, str) and name != "?"
    )


def open_shape(value, shape):
    """-1 for each size that the model leaves open."""
    if not value.has_rank:
        return shape
    return tuple(size if isinstance(name, int) else -1 for name, size in zip(value.shape, shape))


def shape_flag(values, shapes):
    """Of atc."""
    rows = zip(values, shapes)
    text = ";".join(f"{value.name}:{','.join(map(str, shape))}" for value, shape in rows)
    return f"--input_shape={text}"
