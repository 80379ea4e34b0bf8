"""Where ONNX Runtime keeps what its package exports: for programs that take it from there."""

from . import _pybind_state, onnxruntime_inference_collection, onnxruntime_pybind11_state
