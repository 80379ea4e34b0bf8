"""ModelCompiler and its flags: an om of a model, with ONNX Runtime's calls."""

import enum
import os
import pathlib

from . import given_model, om_cache
from .compile_options import CompileOptions
from .errors import Fail, InvalidArgument
from .providers import PROVIDER, chosen
from .session_border import is_fixed, shape_flag, with_sizes


class OrtCompileApiFlags(enum.IntFlag):
    NONE = 0
    ERROR_IF_NO_NODES_COMPILED = 1
    ERROR_IF_OUTPUT_FILE_EXISTS = 2


class ModelCompiler:
    """
    sess_options    with providers and their options, threads, sizes of named dimensions
    input_model_path_or_bytes   whose inputs have fixed shapes then
    embed_compiled_data_into_model, external_initializers_...   accepted: an om is one file

    What comes out is an om, which InferenceSession opens, whatever its name ends with.
    """

    def __init__(
        self,
        sess_options,
        input_model_path_or_bytes,
        embed_compiled_data_into_model=True,  # pylint: disable=unused-argument
        external_initializers_file_path=None,  # pylint: disable=unused-argument
        external_initializers_size_threshold=1024,  # pylint: disable=unused-argument
        flags=OrtCompileApiFlags.NONE,
    ):
        self._model = given_model.checked(input_model_path_or_bytes)
        self._source = given_model.source_of(self._model, sess_options)
        self._must_be_new = bool(flags & OrtCompileApiFlags.ERROR_IF_OUTPUT_FILE_EXISTS)
        own = chosen(sess_options._providers, None).get(PROVIDER, {})
        options = CompileOptions.of(own, sess_options)
        self._flags = list(options.flags) + _shape_flags(self._source.border, sess_options)
        self._cache = om_cache.OmCache(
            options.cache_directory, is_quiet=sess_options.log_severity_level > 2
        )

    def compile_to_bytes(self):
        with self._cache.om(self._source, self._flags) as path:
            return pathlib.Path(path).read_bytes()

    def compile_to_file(self, output_model_path=None):
        """By default beside the model, as <name>_ctx.onnx."""
        if not output_model_path:
            if isinstance(self._model, bytes):
                raise InvalidArgument("a model that is given as bytes needs output_model_path")
            output_model_path = f"{os.path.splitext(self._model)[0]}_ctx.onnx"
        path = pathlib.Path(output_model_path)
        if self._must_be_new and path.exists():
            raise Fail(f"{path} is there already")
        path.write_bytes(self.compile_to_bytes())

    def compile_to_stream(self, write_function):
        write_function(self.compile_to_bytes())


def _shape_flags(in_file, options):
    border = with_sizes(in_file, options)
    for value in border.inputs:
        if not is_fixed(value):
            raise InvalidArgument(
                f"input {value.name} is {list(value.shape)}: SessionOptions give sizes by"
                " add_free_dimension_override_by_name()"
            )
    given = [
        value for value, before in zip(border.inputs, in_file.inputs) if not is_fixed(before)
    ]
    return [shape_flag(given, [value.shape for value in given])] if given else []
