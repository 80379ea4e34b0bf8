"""What several groups compute with numpy."""
import math

import numpy as np

from case_makers.writing import rng


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def swish(x, alpha=1.0):
    return (x * sigmoid(alpha * x)).astype(x.dtype)


erf = np.vectorize(math.erf)


def gelu(x):
    return (0.5 * x * (1 + erf(x / math.sqrt(2)))).astype(x.dtype)


def gelu_tanh(x):
    return (0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))).astype(x.dtype)


def rms(x, axis=-1, epsilon=1e-5):
    axes = tuple(range(axis % x.ndim, x.ndim))
    return np.sqrt(np.mean(x.astype(np.float64) ** 2, axis=axes, keepdims=True) + epsilon).astype(np.float32)


def layer_norm(x, gamma, beta, epsilon):
    mean = x.mean(-1, keepdims=True)
    deviation = np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + epsilon)
    return (x - mean) / deviation * gamma + (0 if beta is None else beta), mean, 1 / deviation


def softmax(x):
    with np.errstate(invalid="ignore"):
        top = np.max(x, -1, keepdims=True)
        e = np.exp(x - np.where(np.isneginf(top), 0, top))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def heads(x, count):
    b, t, h = x.shape
    return x.reshape(b, t, count, h // count).transpose(0, 2, 1, 3)


def flat(x):
    b, h, t, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b, t, h * d)


def attend(q, k, v, bias=0.0, scale=None, softcap=0.0):
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    scale = scale or 1 / math.sqrt(q.shape[-1])
    scores = q @ np.swapaxes(k, -1, -2) * scale
    capped = softcap * np.tanh(scores / softcap) if softcap else scores
    biased = capped + bias
    weights = softmax(biased)
    return (weights @ v).astype(np.float32), scores.astype(np.float32), capped, biased, weights


def visible(tokens, keys, offset=0, causal=True, left=-1, right=-1):
    place, key = np.arange(tokens)[:, None] + offset, np.arange(keys)[None]
    seen = np.ones((tokens, keys), bool)
    if causal:
        seen &= key <= place
    if left >= 0:
        seen &= key >= place - left
    if right >= 0:
        seen &= key <= place + right
    return np.where(seen, 0.0, -np.inf)


def quantise(x, scale, zero, dtype=np.uint8):
    limits = np.iinfo(dtype)
    return np.clip(np.rint(x / scale) + zero, limits.min, limits.max).astype(dtype)


def dequantise(x, scale, zero):
    return (x.astype(np.float32) - np.float32(zero)) * np.float32(scale)


def random_bytes(*shape, dtype=np.uint8):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def crop(image, box, height, width, nearest, outside):
    """One box of one image (channels, rows, columns)."""
    def places(begin, end, extent, count):
        if count == 1:
            return [0.5 * (begin + end) * (extent - 1)]
        return [begin * (extent - 1) + i * (end - begin) * (extent - 1) / (count - 1) for i in range(count)]

    y = np.full((image.shape[0], height, width), outside, np.float32)
    for i, row in enumerate(places(box[0], box[2], image.shape[1], height)):
        for j, column in enumerate(places(box[1], box[3], image.shape[2], width)):
            if not (0 <= row <= image.shape[1] - 1 and 0 <= column <= image.shape[2] - 1):
                continue
            if nearest:
                y[:, i, j] = image[:, int(row + 0.5), int(column + 0.5)]
                continue
            top, bottom, left, right = (int(f(x)) for x in (row, column) for f in (math.floor, math.ceil))
            a, b = (image[:, r, left] + (image[:, r, right] - image[:, r, left]) * (column - left) for r in (top, bottom))
            y[:, i, j] = a + (b - a) * (row - top)
    return y
