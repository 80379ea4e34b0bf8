"""Not there; the import says what there is instead."""

raise ImportError(
    "aoe has no transformers package: what onnxruntime.transformers fuses is fused when a model is"
    " compiled, and models that it has made run as they are (docs/onnxruntime.md)"
)
