"""The same as onnxruntime_pybind11_state, under the other name that programs import."""

from . import onnxruntime_pybind11_state


def __getattr__(name):
    return getattr(onnxruntime_pybind11_state, name)
