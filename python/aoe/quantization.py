"""Not there; the import says what there is instead."""

raise ImportError(
    "aoe has no quantization package: the program aoe_quantize makes int8 of a model, and models that"
    " onnxruntime.quantization has made run as they are (docs/onnxruntime.md)"
)
