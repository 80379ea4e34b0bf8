"""The same as onnxruntime_pybind11_state, under the other name that programs import."""

# pylint: disable=wildcard-import, unused-wildcard-import
from .onnxruntime_pybind11_state import *
