#!/usr/bin/env python3
"""Classifies pictures, as a program for ONNX Runtime does it but for one line: classify.py MODEL.onnx [PICTURE.npy]

PICTURE.npy holds bytes, height x width x 3; a random picture without it. Prints the five best classes.
"""
import sys

import aoe as ort  # import onnxruntime as ort
import numpy as np

MEAN = np.array([0.485, 0.456, 0.406], np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)


def prepared(picture, height, width):
    """Nearest pixels of the picture, as 1 x 3 x height x width around zero."""
    rows = np.arange(height) * picture.shape[0] // height
    columns = np.arange(width) * picture.shape[1] // width
    pixels = picture[rows][:, columns].astype(np.float32) / 255
    return np.ascontiguousarray(((pixels - MEAN) / DEVIATION).transpose(2, 0, 1)[None])


def softmax(scores):
    exponents = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponents / exponents.sum(axis=-1, keepdims=True)


def main(model, picture):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    height, width = (size if isinstance(size, int) else 224 for size in given.shape[2:])
    (scores,) = session.run(None, {given.name: prepared(picture, height, width)})
    probabilities = softmax(scores.reshape(1, -1))[0]
    for place in np.argsort(probabilities)[:-6:-1]:
        print(f"class {place}: {probabilities[place]:.4f}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    random_picture = np.random.default_rng(0).integers(0, 256, (240, 320, 3), np.uint8)
    main(sys.argv[1], np.load(sys.argv[2]) if len(sys.argv) == 3 else random_picture)
