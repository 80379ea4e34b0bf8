"""Not there; the import says what there is instead."""

raise ImportError(
    "aoe has no tools package: shapes are inferred and models simplified when they are compiled"
    " (docs/onnxruntime.md)"
)
