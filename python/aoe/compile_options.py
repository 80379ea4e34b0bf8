"""Options of a compilation, as provider options have them: flags of atc, and the caches."""

import dataclasses
import difflib
import typing

_FLAGS = {
    "precision_mode": "as --precision_mode of atc",
    "op_precision_mode": "a file, as of atc",
    "op_select_implmode": "as of atc",
    "keep_dtype": "a file, as of atc",
    "input_value": "inputs that always have these values",
    "soc_version": "other hardware",
    "threads": (
        "how many threads the model runs on; SessionOptions.intra_op_num_threads is the same"
    ),
}
KEYS = {
    **_FLAGS,
    "cache_dir": "where compiled models are kept; '': nowhere",
    "max_shapes": "how many shapes of a model are loaded at a time (8)",
    "own_shapes": "how many get an om as they come, before one with open sizes serves others (2)",
}


@dataclasses.dataclass(frozen=True)
class CompileOptions:
    flags: typing.Tuple[str, ...]
    cache_directory: typing.Optional[str]
    most_shapes: int
    own_shapes: int

    @classmethod
    def of(cls, given, session_options):
        """ValueError names a key that is not known."""
        for key in given:
            if key not in KEYS:
                near = difflib.get_close_matches(str(key), KEYS, 1)
                hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(KEYS)}"
                raise ValueError(f"there is no provider option {key}{hint}")
        values = {key: given[key] for key in _FLAGS if key in given}
        threads = session_options.intra_op_num_threads
        if threads > 0 and "threads" not in values:
            values["threads"] = threads
        most_shapes = int(given.get("max_shapes", 8))
        if most_shapes < 1:
            raise ValueError(f"max_shapes={most_shapes}: at least one shape has to be loaded")
        own_shapes = int(given.get("own_shapes", 2))
        if own_shapes < 0:
            raise ValueError(f"own_shapes={own_shapes}: a number of shapes is at least 0")
        return cls(tuple(flag_rows(values)), given.get("cache_dir"), most_shapes, own_shapes)


def flag_rows(values):
    """{"precision_mode": "force_fp16"} as flags of a program; True is a switch."""
    return [f"--{key}" if value is True else f"--{key}={value}" for key, value in values.items()]
