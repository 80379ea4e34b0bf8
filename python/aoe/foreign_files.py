"""What else lies under the name of a model, and what to do: as atc says it."""

_KINDS = (
    (0, b"version https://git-lfs", "a pointer of Git LFS, not the model; git lfs pull fetches it"),
    (4, b"ORTM", "in ONNX Runtime's own format; give the ONNX model that it was made of"),
    (4, b"TFL3", "a model of TensorFlow Lite; convert it to ONNX, with tf2onnx"),
    (0, b"\x89HDF", "an HDF5 file, such as Keras writes; convert the model to ONNX, with tf2onnx"),
    (0, b"PK\3\4", "a zip archive, such as PyTorch writes; export the model with torch.onnx.export()"),
    (8, b'{"', "a file of weights, such as safetensors; export the model to ONNX"),
    (0, b"<!", "a page of HTML; download the model again"),
    (0, b"<html", "a page of HTML; download the model again"),
)


def kind_of(content):
    """None: nothing that is known."""
    begin = bytes(content[:32])
    return next((what for at, mark, what in _KINDS if begin[at:].startswith(mark)), None)
