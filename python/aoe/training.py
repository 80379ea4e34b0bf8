"""Not there; the import says so."""

raise ImportError("aoe runs models and trains none: keep onnxruntime.training for that")
