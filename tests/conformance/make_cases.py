#!/usr/bin/env python3
"""Writes cases/*.json: operators that the packaged ONNX node tests are too old for, or that are not ONNX's, with the
results that numpy computes from what their documentation says.

  tests/conformance/make_cases.py            writes all of them again; they come out the same

A case is one node, or a few, with its inputs and expected outputs; node_case.h reads it. Inputs named in `constants`
are initializers of the model.
"""
import json
import math
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent / "cases"
MS = "com.microsoft"
rng = np.random.default_rng(20261122)


def rand(*shape, dtype=np.float32):
    return rng.uniform(-1, 1, shape).astype(dtype)


def node(op, inputs, outputs, domain="", **attributes):
    return {"op_type": op, "domain": domain, "inputs": list(inputs), "outputs": list(outputs), "attributes": attributes}


class Packed:
    """An initializer of a type that numpy does not have: its codes, each of `bits`."""

    def __init__(self, onnx_type, bits, codes):
        self.onnx_type, self.bits, self.codes = onnx_type, bits, np.asarray(codes)


def tensor(value):
    if isinstance(value, Packed):
        flat = value.codes.reshape(1, -1).astype(np.int64) & ((1 << value.bits) - 1)
        return {"onnx_type": value.onnx_type, "shape": list(value.codes.shape), "packed": pack(flat, value.bits)[0].tolist()}
    value = np.asarray(value)
    data = value.reshape(-1).tolist()
    if value.dtype.kind == "f":
        data = [x if math.isfinite(x) else str(x) for x in (float(f"{x:.9g}") for x in data)]
    return {"dtype": {"bool": "bool"}.get(value.dtype.name, value.dtype.name), "shape": list(value.shape), "data": data}


def write(name, nodes, inputs, outputs, constants=(), opset=28):
    case = {"name": name, "opset": opset, "nodes": nodes, "constants": list(constants),
            "inputs": {k: tensor(v) for k, v in inputs.items()}, "outputs": {k: tensor(v) for k, v in outputs.items()}}
    lines = json.dumps(case, indent=1)
    # A tensor stands on one line.
    import re
    lines = re.sub(r"\[[^\[\]{}]*\]", lambda m: re.sub(r"\s+", " ", m.group(0)), lines)
    (HERE / f"{name}.json").write_text(lines + "\n")


def case(name, op, inputs, outputs, domain="", constants=(), **attributes):
    """Inputs in order; None leaves one out."""
    names = [k if v is not None else "" for k, v in inputs.items()]
    outs = [k if v is not None else "" for k, v in outputs.items()]
    write(name, [node(op, names, outs, domain, **attributes)], {k: v for k, v in inputs.items() if v is not None},
          {k: v for k, v in outputs.items() if v is not None}, constants)


# ---- activations ----

def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def swish(x, alpha=1.0):
    return (x * sigmoid(alpha * x)).astype(x.dtype)


erf = np.vectorize(math.erf)


def gelu(x):
    return (0.5 * x * (1 + erf(x / math.sqrt(2)))).astype(x.dtype)


def gelu_tanh(x):
    return (0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))).astype(x.dtype)


def activations():
    x, b = rand(3, 4, 5) * 4, rand(5)
    case("swish", "Swish", {"x": x}, {"y": swish(x)})
    case("swish_alpha", "Swish", {"x": x}, {"y": swish(x, 1.5)}, alpha=1.5)
    h = x.astype(np.float16)
    case("swish_float16", "Swish", {"x": h}, {"y": swish(h.astype(np.float32)).astype(np.float16)})
    b2 = rand(3, 4, 5)
    case("swiglu", "SwiGLU", {"a": x, "b": b2}, {"y": swish(x, 2) * b2}, alpha=2.0)
    case("ms_gelu", "Gelu", {"x": x}, {"y": gelu(x)}, MS)
    case("ms_bias_gelu", "BiasGelu", {"x": x, "b": b}, {"y": gelu(x + b)}, MS, constants=["b"])
    case("ms_fast_gelu", "FastGelu", {"x": x}, {"y": gelu_tanh(x)}, MS)
    case("ms_fast_gelu_bias", "FastGelu", {"x": x, "b": b}, {"y": gelu_tanh(x + b)}, MS)
    case("ms_quick_gelu", "QuickGelu", {"x": x}, {"y": swish(x, 1.702)}, MS)
    case("ms_quick_gelu_alpha", "QuickGelu", {"x": x}, {"y": swish(x, 0.5)}, MS, alpha=0.5)
    zeros = np.float32([-0.0, 0, 4, 0.25, -1])
    for name, exponent in ("root", 0.5), ("inverse_root", -0.5):
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.power(zeros, np.float32(exponent))
        case(f"pow_{name}_of_negative_zero", "Pow", {"x": zeros, "e": np.float32(exponent)}, {"y": y}, constants=["e"])


# ---- normalisation ----

def rms(x, axis=-1, epsilon=1e-5):
    axes = tuple(range(axis % x.ndim, x.ndim))
    return np.sqrt(np.mean(x.astype(np.float64) ** 2, axis=axes, keepdims=True) + epsilon).astype(np.float32)


def layer_norm(x, gamma, beta, epsilon):
    mean = x.mean(-1, keepdims=True)
    deviation = np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + epsilon)
    return (x - mean) / deviation * gamma + (0 if beta is None else beta), mean, 1 / deviation


def normalisations():
    x, skip, bias, scale = rand(2, 3, 8), rand(2, 3, 8), rand(8), rand(8)
    case("rms_normalization", "RMSNormalization", {"x": x, "scale": scale}, {"y": x / rms(x) * scale})
    s2 = rand(3, 8)
    case("rms_normalization_axis", "RMSNormalization", {"x": x, "scale": s2},
         {"y": x / rms(x, 1, 1e-2) * s2}, axis=1, epsilon=1e-2)
    h, hs = x.astype(np.float16), scale.astype(np.float16)
    wide = h.astype(np.float32)
    case("rms_normalization_float16", "RMSNormalization", {"x": h, "scale": hs},
         {"y": ((wide / rms(wide)).astype(np.float16) * hs)})
    case("simplified_layer_normalization", "SimplifiedLayerNormalization", {"x": x, "scale": scale},
         {"y": x / rms(x) * scale, "inverse": 1 / rms(x)}, constants=["scale"])
    total = x + skip + bias
    case("ms_skip_simplified_layer_normalization", "SkipSimplifiedLayerNormalization",
         {"x": x, "skip": skip, "gamma": scale, "bias": bias},
         {"y": total / rms(total) * scale, "mean": None, "inverse": 1 / rms(total), "sum": total}, MS)
    beta = rand(8)
    y, mean, inverse = layer_norm(total, scale, beta, 1e-6)
    case("ms_skip_layer_normalization", "SkipLayerNormalization",
         {"x": x, "skip": skip, "gamma": scale, "beta": beta, "bias": bias},
         {"y": y, "mean": mean, "inverse": inverse, "sum": total}, MS, constants=["gamma", "beta", "bias"], epsilon=1e-6)
    y, _, _ = layer_norm(x + skip[0], scale, None, 1e-6)
    case("ms_skip_layer_normalization_plain", "SkipLayerNormalization", {"x": x, "skip": skip[0], "gamma": scale},
         {"y": y}, MS, epsilon=1e-6)
    ids = np.array([[1, 2, 0], [4, 3, 3]], np.int32)
    segments = np.array([[0, 0, 1], [1, 0, 1]], np.int32)
    words, places, kinds = rand(5, 8), rand(6, 8), rand(2, 8)
    mask = np.array([[1, 1, 0], [1, 1, 1]], np.int32)
    total = words[ids] + places[:3] + kinds[segments]
    y, _, _ = layer_norm(total, scale, beta, 1e-6)
    case("ms_embed_layer_normalization", "EmbedLayerNormalization",
         {"ids": ids, "segments": segments, "words": words, "places": places, "kinds": kinds, "gamma": scale, "beta": beta,
          "mask": mask},
         {"y": y, "mask_index": mask.sum(1).astype(np.int32), "sum": total}, MS,
         constants=["words", "places", "kinds", "gamma", "beta"], epsilon=1e-6)


# ---- products ----

def products():
    a, b = rand(2, 4, 3), rand(2, 5, 4)
    case("ms_fused_matmul", "FusedMatMul", {"a": a, "b": b},
         {"y": (0.5 * np.swapaxes(a, 1, 2) @ np.swapaxes(b, 1, 2))}, MS, transA=1, transB=1, alpha=0.5)
    c = rand(4, 2, 3)  # transBatchA: the batch stands second
    case("ms_fused_matmul_batch", "FusedMatMul", {"a": c, "b": rand_b},
         {"y": np.transpose(c, (1, 0, 2)) @ rand_b}, MS, transBatchA=1)
    x, w, z, bias = rand(1, 2, 4, 4), rand(3, 2, 1, 1), rand(1, 3, 4, 4), rand(3)
    conv = np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0]) + bias[None, :, None, None]
    case("ms_fused_conv_relu", "FusedConv", {"x": x, "w": w, "bias": bias}, {"y": np.maximum(conv, 0)}, MS,
         constants=["w", "bias"], activation="Relu")
    leaky = conv + z
    case("ms_fused_conv_sum_leaky", "FusedConv", {"x": x, "w": w, "bias": bias, "z": z},
         {"y": np.where(leaky < 0, np.float32(0.1) * leaky, leaky)}, MS, constants=["w", "bias"],
         activation="LeakyRelu", activation_params=[0.1])
    m, n, k = rand(3, 4), rand(4, 5), rand(5)
    case("ms_fused_gemm", "FusedGemm", {"a": m, "b": n, "c": k},
         {"y": np.clip(m @ n * np.float32(2) + k, 0, None)}, MS, alpha=2.0, activation="Relu")


rand_b = rand(2, 3, 5)


# ---- attention ----

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


def attentions():
    q, k, v = rand(2, 4, 3, 8), rand(2, 4, 5, 8), rand(2, 4, 5, 6)
    case("attention_4d", "Attention", {"q": q, "k": k, "v": v}, {"y": attend(q, k, v)[0]})
    case("attention_4d_scale_softcap", "Attention", {"q": q, "k": k, "v": v},
         {"y": attend(q, k, v, scale=0.3, softcap=0.7)[0]}, scale=0.3, softcap=0.7)
    case("attention_4d_causal", "Attention", {"q": q, "k": k, "v": v},
         {"y": attend(q, k, v, visible(3, 5))[0]}, is_causal=1)
    gk, gv = rand(2, 2, 5, 8), rand(2, 2, 5, 6)
    case("attention_4d_gqa", "Attention", {"q": q, "k": gk, "v": gv}, {"y": attend(q, gk, gv)[0]})
    case("attention_4d_gqa_causal_softcap", "Attention", {"q": q, "k": gk, "v": gv},
         {"y": attend(q, gk, gv, visible(3, 5), softcap=2.0)[0]}, is_causal=1, softcap=2.0)
    mask = rand(3, 5)
    case("attention_4d_mask", "Attention", {"q": q, "k": k, "v": v, "mask": mask}, {"y": attend(q, k, v, mask)[0]})
    seen = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)
    hidden = np.where(seen, 0.0, -np.inf)
    y = attend(q, k, v, hidden)[0]
    assert (y[:, :, 1] == 0).all()
    case("attention_4d_bool_mask", "Attention", {"q": q, "k": k, "v": v, "mask": seen}, {"y": y})
    case("attention_4d_short_mask", "Attention", {"q": q, "k": k, "v": v, "mask": seen[:, :4]},
         {"y": attend(q, k, v, np.where(np.pad(seen[:, :4], ((0, 0), (0, 1))), 0.0, -np.inf))[0]})
    past_k, past_v = rand(2, 4, 2, 8), rand(2, 4, 2, 6)
    all_k, all_v = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
    y, scores, capped, biased, weights = attend(q, all_k, all_v, visible(3, 7, 2), softcap=1.5)
    past = {"q": q, "k": k, "v": v, "mask": None, "past_k": past_k, "past_v": past_v}
    for mode, qk in enumerate((scores, capped, biased, weights)):
        case(f"attention_4d_past_mode{mode}", "Attention", past,
             {"y": y, "present_k": all_k, "present_v": all_v, "qk": qk.astype(np.float32)},
             is_causal=1, softcap=1.5, qk_matmul_output_mode=mode)
    case("attention_4d_window", "Attention", {"q": q, "k": k, "v": v},
         {"y": attend(q, k, v, visible(3, 5, 0, False, 1, 2))[0]}, left_window_size=1, right_window_size=2)
    lengths = np.array([4, 3], np.int64)
    bias = np.where(np.arange(5)[None] < lengths[:, None], 0.0, -np.inf)[:, None, None]
    case("attention_4d_lengths", "Attention",
         {"q": q, "k": k, "v": v, "mask": None, "pk": None, "pv": None, "lengths": lengths},
         {"y": attend(q, k, v, bias)[0]})
    causal = np.stack([visible(3, 5, n - 3) for n in lengths])[:, None]
    case("attention_4d_lengths_causal", "Attention",
         {"q": q, "k": k, "v": v, "mask": None, "pk": None, "pv": None, "lengths": lengths},
         {"y": attend(q, k, v, bias + causal)[0]}, is_causal=1)
    fq, fk, fv = flat(q), flat(gk), flat(gv)
    case("attention_3d_gqa", "Attention", {"q": fq, "k": fk, "v": fv}, {"y": flat(attend(q, gk, gv)[0])},
         q_num_heads=4, kv_num_heads=2)
    h = [t.astype(np.float16) for t in (q, k, v)]
    case("attention_4d_float16", "Attention", dict(zip("qkv", h)),
         {"y": attend(*[t.astype(np.float32) for t in h])[0].astype(np.float16)})


def microsoft_attentions():
    q, k, v = rand(2, 3, 8), rand(2, 5, 8), rand(2, 5, 8)
    h = [heads(t, 2) for t in (q, k, v)]
    case("ms_multi_head_attention", "MultiHeadAttention", {"q": q, "k": k, "v": v}, {"y": flat(attend(*h)[0])}, MS,
         num_heads=2)
    bias = rand(24)
    biased = [heads(t + bias[8 * i:8 * i + 8], 2) for i, t in enumerate((q, k, v))]
    mask = np.array([[1, 1, 1, 0, 1], [1, 1, 0, 0, 0]], np.int32)
    added = np.where(mask == 1, 0.0, -10000.0)[:, None, None]
    relative = rand(1, 2, 3, 5)
    case("ms_multi_head_attention_mask", "MultiHeadAttention",
         {"q": q, "k": k, "v": v, "bias": bias, "mask": mask, "relative": relative},
         {"y": flat(attend(*biased, added + relative)[0])}, MS, num_heads=2, constants=["bias"])
    past_k, past_v = rand(2, 2, 2, 4), rand(2, 2, 2, 4)
    all_k, all_v = np.concatenate([past_k, h[1]], 2), np.concatenate([past_v, h[2]], 2)
    case("ms_multi_head_attention_past", "MultiHeadAttention",
         {"q": q, "k": k, "v": v, "bias": None, "mask": None, "relative": None, "past_k": past_k, "past_v": past_v},
         {"y": flat(attend(h[0], all_k, all_v)[0]), "present_k": all_k, "present_v": all_v}, MS, num_heads=2)
    packed = rand(2, 3, 2, 3, 4)
    parts = [packed[:, :, :, i].transpose(0, 2, 1, 3) for i in range(3)]
    case("ms_multi_head_attention_packed", "MultiHeadAttention", {"qkv": packed}, {"y": flat(attend(*parts)[0])}, MS,
         num_heads=2)
    x, w, b = rand(2, 3, 6), rand(6, 24), rand(24)
    rows = x @ w + b
    qkv = [heads(rows[..., 8 * i:8 * i + 8], 2) for i in range(3)]
    lengths = np.array([2, 3], np.int32)
    shorter = np.where(np.arange(3)[None] < lengths[:, None], 0.0, -10000.0)[:, None, None]
    case("ms_attention", "Attention", {"x": x, "w": w, "b": b, "lengths": lengths},
         {"y": flat(attend(*qkv, shorter)[0])}, MS, num_heads=2, constants=["w", "b"])
    mask = np.array([3, 2, 1, 0], np.int32)  # where texts end, and where they begin
    at = np.arange(3)[None]
    inside = np.where((at < mask[:2, None]) & (at >= mask[2:, None]), 0.0, -10000.0)[:, None, None]
    case("ms_attention_of_parts", "Attention", {"x": x, "w": w, "b": b, "mask": mask}, {"y": flat(attend(*qkv, inside)[0])}, MS, num_heads=2,
         constants=["w", "b"])
    whole = (np.arange(2 * 5 * 5).reshape(2, 1, 5, 5) % 3 != 1).astype(np.int32)
    seen = np.where(whole[:, :, :3, :3] == 1, 0.0, -10000.0)
    case("ms_attention_mask_of_a_longer_text", "Attention", {"x": x, "w": w, "b": b, "mask": whole}, {"y": flat(attend(*qkv, seen)[0])}, MS,
         num_heads=2, constants=["w", "b"])
    past = rand(2, 2, 2, 4, 4)
    k, v = np.concatenate([past[0], qkv[1]], 2), np.concatenate([past[1], qkv[2]], 2)
    case("ms_attention_past_causal", "Attention", {"x": x, "w": w, "b": b, "mask": None, "past": past},
         {"y": flat(attend(qkv[0], k, v, visible(3, 7, 4))[0]), "present": np.stack([k, v])}, MS, num_heads=2,
         unidirectional=1)


# ---- rotary embedding and decoders ----

def rotate(x, cos, sin, interleaved=False):
    """x (b, h, t, d), cos and sin (b, t, pairs)."""
    pairs = cos.shape[-1]
    head, rest = x[..., :2 * pairs], x[..., 2 * pairs:]
    a, b = (head[..., 0::2], head[..., 1::2]) if interleaved else (head[..., :pairs], head[..., pairs:])
    c, s = cos[:, None], sin[:, None]
    real, imaginary = a * c - b * s, a * s + b * c
    turned = np.stack([real, imaginary], -1).reshape(head.shape) if interleaved else np.concatenate([real, imaginary], -1)
    return np.concatenate([turned, rest], -1).astype(x.dtype)


def angles(positions, pairs):
    frequency = 10000.0 ** (-np.arange(pairs) / pairs)
    turned = np.arange(positions)[:, None] * frequency[None]
    return np.cos(turned).astype(np.float32), np.sin(turned).astype(np.float32)


def rotaries():
    x = rand(2, 3, 4, 8)
    cos, sin = angles(16, 4)
    ids = np.array([[0, 1, 2, 3], [5, 6, 7, 9]], np.int64)
    for interleaved in (0, 1):
        case(f"rotary_embedding_{interleaved}", "RotaryEmbedding", {"x": x, "cos": cos, "sin": sin, "ids": ids},
             {"y": rotate(x, cos[ids], sin[ids], interleaved)}, interleaved=interleaved)
        case(f"ms_rotary_embedding_{interleaved}", "RotaryEmbedding",
             {"x": flat(x), "ids": ids, "cos": cos, "sin": sin},
             {"y": flat(rotate(x, cos[ids], sin[ids], interleaved))}, MS, interleaved=interleaved,
             constants=["cos", "sin"])
    case("rotary_embedding_3d", "RotaryEmbedding", {"x": flat(x), "cos": cos[ids], "sin": sin[ids]},
         {"y": flat(rotate(x, cos[ids], sin[ids]))}, num_heads=3)
    c2, s2 = angles(16, 2)
    case("rotary_embedding_partial", "RotaryEmbedding", {"x": x, "cos": c2, "sin": s2, "ids": ids},
         {"y": rotate(x, c2[ids], s2[ids])}, rotary_embedding_dim=4)
    offset = np.array([3], np.int64)
    steps = np.tile(np.arange(4)[None] + 3, (2, 1))
    case("ms_rotary_embedding_offset", "RotaryEmbedding", {"x": x, "ids": offset, "cos": cos, "sin": sin},
         {"y": rotate(x, cos[steps], sin[steps])}, MS)


def decoders():
    """4 heads that share 2, of 8 elements; a cache of 6 places of which 3 and 2 are valid."""
    cos, sin = angles(16, 4)
    q, k, v = rand(2, 1, 32), rand(2, 1, 16), rand(2, 1, 16)
    past_k, past_v = rand(2, 2, 6, 8), rand(2, 2, 6, 8)
    valid = np.array([3, 2])
    at = valid[:, None]
    hq, hk, hv = heads(q, 4), heads(k, 2), heads(v, 2)
    hq, hk = rotate(hq, cos[at], sin[at]), rotate(hk, cos[at], sin[at])
    present_k, present_v = past_k.copy(), past_v.copy()
    for b in range(2):
        present_k[b, :, valid[b]], present_v[b, :, valid[b]] = hk[b, :, 0], hv[b, :, 0]
    bias = np.stack([visible(1, 6, n) for n in valid])[:, None]
    inputs = {"q": q, "k": k, "v": v, "past_k": past_k, "past_v": past_v, "lengths": valid.astype(np.int32),
              "total": np.array(6, np.int32), "cos": cos, "sin": sin}
    case("ms_group_query_attention_step", "GroupQueryAttention", inputs,
         {"y": flat(attend(hq, present_k, present_v, bias)[0]), "present_k": present_k, "present_v": present_v}, MS,
         constants=["total", "cos", "sin"], num_heads=4, kv_num_heads=2, do_rotary=1)
    window = np.stack([visible(1, 6, n, True, 1) for n in valid])[:, None]
    case("ms_group_query_attention_window", "GroupQueryAttention", inputs,
         {"y": flat(attend(hq, present_k, present_v, window, softcap=3.0)[0]), "present_k": present_k,
          "present_v": present_v}, MS,
         constants=["total", "cos", "sin"], num_heads=4, kv_num_heads=2, do_rotary=1, local_window_size=2, softcap=3.0)
    packed = rand(2, 3, 64)  # a first prompt, queries, keys and values in one row
    pq, pk, pv = heads(packed[..., :32], 4), heads(packed[..., 32:48], 2), heads(packed[..., 48:], 2)
    case("ms_group_query_attention_prompt", "GroupQueryAttention",
         {"qkv": packed, "k": None, "v": None, "past_k": None, "past_v": None, "lengths": np.array([2, 2], np.int32),
          "total": np.array(3, np.int32)},
         {"y": flat(attend(pq, pk, pv, visible(3, 3))[0]), "present_k": pk, "present_v": pv}, MS, constants=["total"],
         num_heads=4, kv_num_heads=2)


# ---- convolutions, caches, images ----

def convolutions():
    x, w, b = rand(2, 3, 6), rand(3, 1, 4), rand(3)

    def conv(sequence):
        return np.stack([(sequence[:, :, t:t + 4] * w[:, 0]).sum(-1) for t in range(6)], -1)

    padded = np.pad(x, ((0, 0), (0, 0), (3, 0)))
    case("causal_conv_with_state", "CausalConvWithState", {"x": x, "w": w}, {"y": conv(padded), "state": padded[..., -3:]},
         constants=["w"])
    past = rand(2, 3, 3)
    joined = np.concatenate([past, x], 2)
    y = conv(joined) + b[:, None]
    case("causal_conv_with_state_silu", "CausalConvWithState", {"x": x, "w": w, "b": b, "past": past},
         {"y": swish(y), "state": joined[..., -3:]}, constants=["w", "b"], activation="silu")


def linear_attention(q, k, v, rule, state, decay=None, beta=None):
    b, t, hq, d = q.shape
    hkv = k.shape[2]
    out = np.zeros((b, t, hq, v.shape[3]))
    state = state.astype(np.float64).copy()
    for n in range(b):
        for i in range(t):
            for h in range(hkv):
                s = state[n, h]
                if decay is not None:
                    s *= np.exp(decay[n, i, h])[:, None]
                key, value = k[n, i, h], v[n, i, h]
                if beta is not None:
                    value = (value - s.T @ key) * beta[n, i, h]
                s += np.outer(key, value)
                for g in range(hq // hkv):
                    head = h * (hq // hkv) + g
                    out[n, i, head] = q[n, i, head] @ s / math.sqrt(d)
    return out.reshape(b, t, -1).astype(np.float32), state.astype(np.float32)


def linear_attentions():
    q, k, v = rand(2, 3, 4, 4), rand(2, 3, 2, 4), rand(2, 3, 2, 5)
    decay, beta, past = -np.abs(rand(2, 3, 2, 4)), np.abs(rand(2, 3, 2)), rand(2, 2, 4, 5)
    zero = np.zeros((2, 2, 4, 5), np.float32)
    packed = {"q": q.reshape(2, 3, 16), "k": k.reshape(2, 3, 8), "v": v.reshape(2, 3, 10)}
    for rule in ("linear", "gated", "delta", "gated_delta"):
        d = decay if "gated" in rule else None
        g = beta if "delta" in rule else None
        state = past if rule == "gated_delta" else None
        y, present = linear_attention(q, k, v, rule, zero if state is None else state, d, g)
        case(f"linear_attention_{rule}", "LinearAttention",
             {**packed, "past": state, "decay": None if d is None else d.reshape(2, 3, 8), "beta": g},
             {"y": y, "state": present}, q_num_heads=4, kv_num_heads=2, update_rule=rule)
    per_head = -np.abs(rand(2, 3, 2))
    y, present = linear_attention(q, k, v, "gated", zero, np.repeat(per_head[..., None], 4, -1))
    case("linear_attention_decay_per_head", "LinearAttention", {**packed, "past": None, "decay": per_head},
         {"y": y, "state": present}, q_num_heads=4, kv_num_heads=2, update_rule="gated")


def caches():
    cache, update = rand(2, 2, 5, 3), rand(2, 2, 2, 3)
    at = np.array([1, 3], np.int64)
    y = cache.copy()
    for b in range(2):
        y[b, :, at[b]:at[b] + 2] = update[b]
    case("tensor_scatter", "TensorScatter", {"cache": cache, "update": update, "at": at}, {"y": y})
    at = np.array([4, 3], np.int64)
    y = cache.copy()
    for b in range(2):
        for i in range(2):
            y[b, :, (at[b] + i) % 5] = update[b, :, i]
    case("tensor_scatter_circular", "TensorScatter", {"cache": cache, "update": update, "at": at}, {"y": y},
         mode="circular")
    y = cache.copy()
    y[:, :, :2] = update
    case("tensor_scatter_from_zero", "TensorScatter", {"cache": cache, "update": update}, {"y": y})
    x = rand(3, 4)
    case("bit_cast", "BitCast", {"x": x}, {"y": x.view(np.int32)}, to=6)
    bytes_ = np.arange(-4, 4, dtype=np.int8)
    case("bit_cast_bytes", "BitCast", {"x": bytes_}, {"y": bytes_.view(np.uint8)}, to=2)
    p = rand(3, 4) * 2
    axis = np.array(1, np.int32)
    case("cum_prod", "CumProd", {"x": p, "axis": axis}, {"y": np.cumprod(p, 1)})
    shifted = np.concatenate([np.ones((3, 1), np.float32), np.cumprod(p[:, :0:-1], 1)], 1)[:, ::-1]
    case("cum_prod_exclusive_reverse", "CumProd", {"x": p, "axis": axis}, {"y": shifted}, exclusive=1, reverse=1)
    i = np.array([[1, 2, 3], [4, -5, 6]], np.int32)
    case("cum_prod_int32", "CumProd", {"x": i, "axis": np.array(0, np.int64)}, {"y": np.cumprod(i, 0).astype(np.int32)})


def images():
    x = rand(2, 5, 6)
    size = np.array([3, 8], np.int64)
    y = np.pad(x[:, 1:4], ((0, 0), (0, 0), (1, 1)))
    case("center_crop_pad", "CenterCropPad", {"x": x, "size": size}, {"y": y}, axes=[1, -1], constants=["size"])
    odd = np.array([2, 4, 9], np.int64)
    y = np.pad(x[:, 0:4], ((0, 0), (0, 0), (1, 2)))
    case("center_crop_pad_odd", "CenterCropPad", {"x": x, "size": odd}, {"y": y}, constants=["size"])
    theta = rand(2, 2, 3)
    for align in (0, 1):
        def places(n):
            return np.linspace(-1, 1, n) if align else (2 * np.arange(n) + 1) / n - 1
        gy, gx = np.meshgrid(places(3), places(4), indexing="ij")
        base = np.stack([gx, gy, np.ones_like(gx)], -1)
        case(f"affine_grid_{align}", "AffineGrid", {"theta": theta, "size": np.array([2, 3, 3, 4], np.int64)},
             {"grid": np.einsum("hwk,nik->nhwi", base, theta).astype(np.float32)}, constants=["size"], align_corners=align)
    theta = rand(1, 3, 4)
    line = (2 * np.arange(2) + 1) / 2 - 1
    gz, gy, gx = np.meshgrid(line, (2 * np.arange(3) + 1) / 3 - 1, line, indexing="ij")
    base = np.stack([gx, gy, gz, np.ones_like(gx)], -1)
    case("affine_grid_3d", "AffineGrid", {"theta": theta, "size": np.array([1, 1, 2, 3, 2], np.int64)},
         {"grid": np.einsum("dhwk,nik->ndhwi", base, theta).astype(np.float32)}, constants=["size"])
    columns = rand(1, 2 * 4, 6)  # 2 channels, blocks of 2x2, of an image of 3x4 with strides of 1
    image = np.zeros((1, 2, 3, 4), np.float32)
    for c in range(2):
        for t, (dy, dx) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
            for n, (oy, ox) in enumerate((oy, ox) for oy in range(2) for ox in range(3)):
                image[0, c, oy + dy, ox + dx] += columns[0, c * 4 + t, n]
    case("col2im", "Col2Im", {"x": columns, "image": np.array([3, 4], np.int64), "block": np.array([2, 2], np.int64)},
         {"y": image}, constants=["image", "block"])
    padded = rand(1, 4, 4)  # 1 channel, blocks of 2x2 two apart, an image of 2x2 with a border of 1
    image = np.zeros((1, 1, 4, 4), np.float32)
    for t, (dy, dx) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
        for n, (oy, ox) in enumerate((oy, ox) for oy in range(2) for ox in range(2)):
            image[0, 0, 2 * oy + dy, 2 * ox + dx] += padded[0, t, n]
    case("col2im_padded", "Col2Im", {"x": padded, "image": np.array([2, 2], np.int64), "block": np.array([2, 2], np.int64)},
         {"y": image[:, :, 1:3, 1:3]}, constants=["image", "block"], pads=[1, 1, 1, 1], strides=[2, 2])


def deform_conv(x, w, offset, bias, mask, pad, groups, offset_groups):
    n, c, height, width = x.shape
    oc, ic, kh, kw = w.shape
    oh, ow = height + 2 * pad - kh + 1, width + 2 * pad - kw + 1
    y = np.zeros((n, oc, oh, ow))

    def read(plane, r, s):
        total, r0, s0 = 0.0, math.floor(r), math.floor(s)
        for rr in (r0, r0 + 1):
            for ss in (s0, s0 + 1):
                if 0 <= rr < height and 0 <= ss < width:
                    total += (1 - abs(r - rr)) * (1 - abs(s - ss)) * plane[rr, ss]
        return total

    for b in range(n):
        for o in range(oc):
            for i in range(oh):
                for j in range(ow):
                    total = bias[o]
                    for ci in range(ic):
                        channel = o // (oc // groups) * ic + ci
                        group = channel // (c // offset_groups)
                        for k in range(kh * kw):
                            at = (group * kh * kw + k)
                            dy, dx = offset[b, 2 * at, i, j], offset[b, 2 * at + 1, i, j]
                            factor = 1 if mask is None else mask[b, at, i, j]
                            total += w[o, ci, k // kw, k % kw] * factor * read(
                                x[b, channel], i - pad + k // kw + dy, j - pad + k % kw + dx)
                    y[b, o, i, j] = total
    return y.astype(np.float32)


def deformed():
    x, w = rand(1, 2, 4, 5), rand(2, 2, 2, 2)
    offset, bias, mask = rand(1, 8, 3, 4), rand(2), np.abs(rand(1, 4, 3, 4))
    zero = np.zeros(2, np.float32)
    case("deform_conv", "DeformConv", {"x": x, "w": w, "offset": offset},
         {"y": deform_conv(x, w, offset, zero, None, 0, 1, 1)}, constants=["w"], kernel_shape=[2, 2])
    case("deform_conv_mask", "DeformConv", {"x": x, "w": w, "offset": offset, "b": bias, "mask": mask},
         {"y": deform_conv(x, w, offset, bias, mask, 0, 1, 1)}, constants=["w", "b"])
    w1, far = rand(2, 1, 3, 3), rand(1, 36, 4, 5) * 3
    case("deform_conv_groups", "DeformConv", {"x": x, "w": w1, "offset": far},
         {"y": deform_conv(x, w1, far, zero, None, 1, 2, 2)}, constants=["w"], pads=[1, 1, 1, 1], group=2, offset_group=2)


# ---- bytes ----

def quantise(x, scale, zero, dtype=np.uint8):
    limits = np.iinfo(dtype)
    return np.clip(np.rint(x / scale) + zero, limits.min, limits.max).astype(dtype)


def dequantise(x, scale, zero):
    return (x.astype(np.float32) - np.float32(zero)) * np.float32(scale)


def random_bytes(*shape, dtype=np.uint8):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def bytes_between_scales():
    f, u = np.float32, np.uint8
    a, b = random_bytes(2, 3, 4), random_bytes(4)
    scales = {"as": f(0.02), "az": u(120), "bs": f(0.03), "bz": u(130), "cs": f(0.05), "cz": u(125)}
    ra, rb = dequantise(a, 0.02, 120), dequantise(b, 0.03, 130)
    two = {"a": a, "as": scales["as"], "az": scales["az"], "b": b, "bs": scales["bs"], "bz": scales["bz"], "cs": scales["cs"],
           "cz": scales["cz"]}
    fixed = ["as", "az", "bs", "bz", "cs", "cz"]
    case("ms_qlinear_add", "QLinearAdd", two, {"c": quantise(ra + rb, f(0.05), 125)}, MS, constants=fixed)
    case("ms_qlinear_mul", "QLinearMul", two, {"c": quantise(ra * rb, f(0.05), 125)}, MS, constants=fixed)
    one = {"x": a, "xs": f(0.02), "xz": u(120), "ys": f(0.00390625), "yz": u(0)}
    fixed = ["xs", "xz", "ys", "yz"]
    case("ms_qlinear_sigmoid", "QLinearSigmoid", one, {"y": quantise(sigmoid(ra), f(0.00390625), 0)}, MS, constants=fixed)
    signed = random_bytes(2, 3, dtype=np.int8)
    r = dequantise(signed, 0.02, 3)
    case("ms_qlinear_leaky_relu", "QLinearLeakyRelu",
         {"x": signed, "xs": f(0.02), "xz": np.int8(3), "ys": f(0.015625), "yz": np.int8(-5)},
         {"y": quantise(np.where(r < 0, f(0.2) * r, r), f(0.015625), -5, np.int8)}, MS, constants=fixed, alpha=0.2)
    steps = (np.arange(24).reshape(2, 3, 4) * 10 - 100).astype(np.int8)
    channel_scales, channel_zeros = np.array([0.1, 0.02, 0.5], np.float32), np.array([0, -3, 7], np.int8)
    by_channel = ((steps.astype(np.int32) - channel_zeros[:, None]) * channel_scales[:, None]).astype(np.float32)
    case("ms_dequantize_linear", "DequantizeLinear", {"x": steps, "s": channel_scales, "z": channel_zeros}, {"y": by_channel}, MS,
         constants=["s", "z"], axis=1)
    case("ms_quantize_linear", "QuantizeLinear", {"x": by_channel, "s": channel_scales, "z": channel_zeros}, {"y": steps}, MS,
         constants=["s", "z"], axis=1)
    image = random_bytes(1, 3, 4, 4)
    mean = dequantise(image, 0.02, 120).mean((2, 3), keepdims=True)
    average = {"x": image, "xs": f(0.02), "xz": u(120), "ys": f(0.013), "yz": u(110)}
    case("ms_qlinear_global_average_pool", "QLinearGlobalAveragePool", average, {"y": quantise(mean, f(0.013), 110)}, MS,
         constants=fixed)
    nhwc = dict(average, x=image.transpose(0, 2, 3, 1).copy())
    case("ms_qlinear_global_average_pool_nhwc", "QLinearGlobalAveragePool", nhwc,
         {"y": quantise(mean, f(0.013), 110).transpose(0, 2, 3, 1).copy()}, MS, constants=fixed, channels_last=1)
    p, q = random_bytes(2, 3), random_bytes(2, 2)
    joined = np.concatenate([dequantise(p, 0.02, 120), dequantise(q, 0.04, 100)], 1)
    case("ms_qlinear_concat", "QLinearConcat",
         {"ys": f(0.05), "yz": u(128), "p": p, "ps": f(0.02), "pz": u(120), "q": q, "qs": f(0.04), "qz": u(100)},
         {"y": quantise(joined, f(0.05), 128)}, MS, constants=["ys", "yz", "ps", "pz", "qs", "qz"], axis=1)
    x = random_bytes(1, 4, 4, 2)
    windows = np.stack([x[:, i:i + 3:2, j:j + 3:2] for i in range(2) for j in range(2)])
    case("ms_nhwc_max_pool", "NhwcMaxPool", {"x": x}, {"y": windows.max(0)}, MS, kernel_shape=[2, 2], strides=[2, 2])


def products_of_bytes():
    f, u = np.float32, np.uint8
    a, b = random_bytes(2, 4), random_bytes(4, 3, dtype=np.int8)
    scale, zeros, bias = np.array([0.01, 0.02, 0.03], f), np.array([1, -2, 0], np.int8), rand(3)
    y = (dequantise(a, 0.05, 100)) @ ((b.astype(f) - zeros) * scale) + bias
    case("ms_matmul_integer_to_float", "MatMulIntegerToFloat",
         {"a": a, "b": b, "as": f(0.05), "bs": scale, "az": u(100), "bz": zeros, "bias": bias}, {"y": y}, MS,
         constants=["b", "as", "bs", "az", "bz", "bias"])
    x = rand(3, 4)
    low, high = min(x.min(), 0), max(x.max(), 0)
    step = f((high - low) / 255)
    zero = np.clip(np.rint(-low / step), 0, 255)
    bytes_ = np.clip(np.rint(x / step) + zero, 0, 255)
    y = ((bytes_ - zero) * step).astype(f) @ ((b.astype(f) - zeros) * scale)
    case("ms_dynamic_quantize_matmul", "DynamicQuantizeMatMul", {"x": x, "b": b, "bs": scale, "bz": zeros},
         {"y": y.astype(f)}, MS, constants=["b", "bs", "bz"])


def pack(values, bits):
    """Rows of small integers, the first in the lowest bits."""
    per_byte = 8 // bits
    width = -(-values.shape[1] // per_byte) * per_byte
    padded = np.zeros((values.shape[0], width), np.uint8)
    padded[:, :values.shape[1]] = values
    parts = padded.reshape(values.shape[0], -1, per_byte)
    return sum(parts[:, :, i].astype(np.uint16) << (bits * i) for i in range(per_byte)).astype(np.uint8)


def small_weights():
    k, n, block = 24, 5, 16
    blocks = -(-k // block)
    a = rand(3, k)
    for bits in (2, 4, 8):
        values = rng.integers(0, 1 << bits, (n, blocks * block)).astype(np.uint8)
        scales = np.abs(rand(n * blocks)) / (1 << bits)
        zeros = rng.integers(0, 1 << bits, (n, blocks)).astype(np.uint8)
        for name, zero in (("", None), ("_zero_points", zeros)):
            shift = np.full((n, blocks), 1 << (bits - 1)) if zero is None else zero
            weights = (values.reshape(n, blocks, block) - shift[:, :, None].astype(np.float32)) * scales.reshape(n, blocks, 1)
            y = a @ weights.reshape(n, -1)[:, :k].T
            packed = pack(values, bits).reshape(n, blocks, block * bits // 8)
            case(f"ms_matmul_{bits}bits{name}", "MatMulNBits",
                 {"a": a, "b": packed, "scales": scales, "zeros": None if zero is None else pack(zero, bits).reshape(-1)},
                 {"y": y.astype(np.float32)}, MS,
                 constants=["b", "scales"] + ([] if zero is None else ["zeros"]), K=k, N=n, bits=bits, block_size=block)


# ---- sequences and optionals ----

def sequences():
    a, b, c = rand(2, 3), rand(4, 3), rand(1, 3)
    i64 = np.int64
    write("sequence_insert_concat",
          [node("SequenceConstruct", ["a", "b"], ["s"]), node("SequenceInsert", ["s", "c", "at"], ["t"]),
           node("SequenceLength", ["t"], ["n"]), node("ConcatFromSequence", ["t"], ["y"], axis=0),
           node("SequenceErase", ["t", "first"], ["u"]), node("SequenceAt", ["u", "last"], ["z"])],
          {"a": a, "b": b, "c": c, "at": np.array(1, i64), "first": np.array(0, i64), "last": np.array(-1, i64)},
          {"n": np.array(3, i64), "y": np.concatenate([a, c, b]), "z": b}, constants=["at", "first", "last"])
    x = rand(5, 2)
    write("split_to_sequence_stack",
          [node("SplitToSequence", ["x"], ["s"], axis=0, keepdims=0),
           node("ConcatFromSequence", ["s"], ["y"], axis=1, new_axis=1)], {"x": x}, {"y": x.T.copy()})
    write("split_to_sequence_parts",
          [node("SplitToSequence", ["x", "sizes"], ["s"], axis=0), node("SequenceAt", ["s", "at"], ["y"])],
          {"x": x, "sizes": np.array([2, 3], i64), "at": np.array(1, i64)}, {"y": x[2:]}, constants=["sizes", "at"])
    write("optional_has_and_get",
          [node("Optional", ["a"], ["o"]), node("OptionalHasElement", ["o"], ["has"]),
           node("OptionalGetElement", ["o"], ["y"])], {"a": a}, {"has": np.array(True), "y": a})


def unread_outputs():
    x = rand(2, 6)
    sizes = np.array([1, 2, 3], np.int64)
    write("split_last_unread", [node("Split", ["x", "sizes"], ["a", "b", "c"], axis=1), node("Neg", ["b"], ["y"])],
          {"x": x, "sizes": sizes}, {"y": -x[:, 1:3]}, constants=["sizes"], opset=17)


# ---- control flow ----

def graph(inputs, outputs, nodes, **constants):
    """A body: inputs are names with dtype and shape (None: not known; of a sequence), constants are numpy values."""
    return {"graph": {"inputs": [{"name": n, "dtype": d, "shape": s} for n, d, s in inputs], "outputs": list(outputs),
                      "nodes": nodes, "constants": {k: tensor(v) for k, v in constants.items()}}}


def control_flow():
    i64, f32 = np.int64, np.float32
    x, y = rand(2, 3), rand(2, 3)
    then_branch = graph([], ["r"], [node("Add", ["x", "y"], ["s"]), node("Relu", ["s"], ["r"])])
    else_branch = graph([], ["q"], [node("Mul", ["x", "two"], ["q"])], two=f32(2))
    for flag in (True, False):
        write(f"if_{str(flag).lower()}",
              [node("If", ["flag"], ["o"], then_branch=then_branch, else_branch=else_branch), node("Neg", ["o"], ["z"])],
              {"flag": np.array(flag), "x": x, "y": y}, {"z": -(np.maximum(x + y, 0) if flag else 2 * x)})
    # Branches that differ in size, one inside the other.
    inner = node("If", ["other"], ["r"], then_branch=graph([], ["a"], [node("Concat", ["x", "y"], ["a"], axis=0)]),
                 else_branch=graph([], ["b"], [node("Identity", ["y"], ["b"])]))
    nested = [node("If", ["flag"], ["z"], then_branch=graph([], ["r"], [inner]),
                   else_branch=graph([], ["c"], [node("Slice", ["x", "zero", "one"], ["c"])], zero=np.array([0]), one=np.array([1])))]
    for flag, other, want in ((True, True, np.concatenate([x, y])), (True, False, y), (False, True, x[:1])):
        write(f"if_nested_{int(flag)}{int(other)}", nested,
              {"flag": np.array(flag), "other": np.array(other), "x": x, "y": y}, {"z": want})
    # A recurrent cell, as exporters write it: a count that is known, a state, what it gives collected.
    w, h, seq = rand(3, 3), rand(1, 3), rand(5, 1, 3)
    cell = graph([("i", "int64", []), ("c", "bool", []), ("h", "float32", [1, 3])], ["c_out", "h_out", "h_seen"],
                 [node("Gather", ["seq", "i"], ["step"], axis=0), node("MatMul", ["h", "w"], ["hw"]),
                  node("Add", ["hw", "step"], ["sum"]), node("Tanh", ["sum"], ["h_out"]),
                  node("Identity", ["h_out"], ["h_seen"]), node("Identity", ["c"], ["c_out"])])
    state, seen = h, []
    for step in seq:
        state = np.tanh(state @ w + step)
        seen.append(state)
    write("loop_cell", [node("Loop", ["n", "", "h"], ["last", "all"], body=cell)],
          {"n": np.array(5, i64), "h": h, "w": w, "seq": seq}, {"last": state, "all": np.stack(seen)}, constants=["n", "w"])
    write("loop_cell_runtime_count", [node("Loop", ["n", "", "h"], ["last", "all"], body=cell)],
          {"n": np.array(3, i64), "h": h, "w": w, "seq": seq}, {"last": seen[2], "all": np.stack(seen[:3])}, constants=["w"])
    # While: doubles until the sum is large; a carried value that grows.
    grow = graph([("i", "int64", []), ("c", "bool", []), ("v", "float32", [None, 2])], ["more", "v_out", "length"],
                 [node("Concat", ["v", "v"], ["v_out"], axis=0), node("ReduceSum", ["v_out"], ["total"], keepdims=0),
                  node("Less", ["total", "limit"], ["more"]), node("Shape", ["v_out"], ["length"])], limit=f32(20))
    v = np.ones((1, 2), f32)
    lengths = []
    while True:
        v = np.concatenate([v, v])
        lengths.append(np.array(v.shape, i64))
        if v.sum() >= 20:
            break
    start = np.ones((1, 2), f32)
    write("loop_while_growing", [node("Loop", ["", "go", "start"], ["v", "lengths"], body=grow)],
          {"go": np.array(True), "start": start}, {"v": v, "lengths": np.stack(lengths)})
    write("loop_no_trip", [node("Loop", ["", "go", "start"], ["v"], body=grow)], {"go": np.array(False), "start": start},
          {"v": start})
    # Scan: a running sum, and what it scans backwards, along other axes.
    body = graph([("s", "float32", [3]), ("x", "float32", [3])], ["s_out", "y"],
                 [node("Add", ["s", "x"], ["s_out"]), node("Mul", ["s_out", "k"], ["y"])])
    s0, xs, k = rand(3), rand(4, 3), f32(0.5)
    sums = s0 + np.cumsum(xs, 0)
    write("scan_sum", [node("Scan", ["s", "xs"], ["last", "ys"], body=body, num_scan_inputs=1)],
          {"s": s0, "xs": xs, "k": k}, {"last": sums[-1], "ys": sums * k})
    back = s0 + np.cumsum(xs[::-1], 0)
    write("scan_reversed_axes", [node("Scan", ["s", "xs"], ["last", "ys"], body=body, num_scan_inputs=1, scan_input_axes=[1],
                                      scan_input_directions=[1], scan_output_axes=[-1], scan_output_directions=[1])],
          {"s": s0, "xs": xs.T.copy(), "k": k}, {"last": back[-1], "ys": (back * k)[::-1].T.copy()})
    # A loop inside a branch, both reading what lies outside of both.
    count = graph([("i", "int64", []), ("c", "bool", []), ("a", "float32", [2, 3])], ["c2", "a2"],
                  [node("Add", ["a", "y"], ["a2"]), node("Identity", ["c"], ["c2"])])
    branch = graph([], ["r"], [node("Loop", ["n", "", "x"], ["r"], body=count)])
    write("loop_in_if", [node("If", ["flag"], ["z"], then_branch=branch, else_branch=graph([], ["e"], [node("Neg", ["x"], ["e"])]))],
          {"flag": np.array(True), "n": np.array(3, i64), "x": x, "y": y}, {"z": x + 3 * y})
    write("sequence_map",
          [node("SplitToSequence", ["x"], ["s"], axis=0),
           node("SequenceMap", ["s", "y"], ["t"], body=graph([("e", "float32", [1, 3]), ("o", "float32", [2, 3])], ["r"],
                                                             [node("Add", ["e", "o"], ["r"])])),
           node("ConcatFromSequence", ["t"], ["z"], axis=0)], {"x": x, "y": y}, {"z": np.concatenate([x[:1] + y, x[1:] + y])})


def control_flow_of_float16():
    """Bodies compute in float32 as well; what they give out is float16."""
    f16, f32 = np.float16, np.float32

    def eighths(*shape, step):
        return (np.arange(math.prod(shape)) * step % 11 / 8 - 0.625).reshape(shape).astype(f16)

    x, y = eighths(2, 3, step=7), eighths(2, 3, step=5)
    then_branch = graph([], ["r"], [node("Add", ["x", "y"], ["s"]), node("Relu", ["s"], ["r"])])
    else_branch = graph([], ["q"], [node("Mul", ["x", "two"], ["q"])], two=f16(2))
    for flag in (True, False):
        write(f"if_{str(flag).lower()}_float16",
              [node("Exp", ["x"], ["e"]), node("If", ["flag"], ["o"], then_branch=then_branch, else_branch=else_branch),
               node("Sub", ["o", "e"], ["z"])],
              {"flag": np.array(flag), "x": x, "y": y},
              {"z": ((np.maximum(x + y, f16(0)) if flag else 2 * x).astype(f32) - np.exp(x.astype(f32))).astype(f16)})
    w, h, seq = eighths(3, 3, step=3), eighths(1, 3, step=4), eighths(5, 1, 3, step=6)
    cell = graph([("i", "int64", []), ("c", "bool", []), ("h", "float16", [1, 3])], ["c_out", "h_out", "h_seen"],
                 [node("Gather", ["wide", "i"], ["step"], axis=0), node("MatMul", ["h", "w"], ["hw"]),
                  node("Add", ["hw", "step"], ["sum"]), node("Tanh", ["sum"], ["h_out"]),
                  node("Identity", ["h_out"], ["h_seen"]), node("Identity", ["c"], ["c_out"])])
    state, seen = h, []
    for step in (2 * seq.astype(f32)).astype(f16):
        state = np.tanh(state.astype(f32) @ w.astype(f32) + step.astype(f32)).astype(f16)
        seen.append(state)
    write("loop_cell_float16", [node("Add", ["seq", "seq"], ["wide"]), node("Loop", ["n", "", "h"], ["last", "all"], body=cell),
                                node("Neg", ["last"], ["negated"])],
          {"n": np.array(5, np.int64), "h": h, "w": w, "seq": seq},
          {"last": state, "all": np.stack(seen), "negated": -state}, constants=["n", "w"])


def other_names():
    """Operators that others of the same file stand beside."""
    f, u = np.float32, np.uint8
    x, skip, scale = rand(2, 3, 8), rand(2, 3, 8), rand(8)
    case("ms_simplified_layer_normalization", "SimplifiedLayerNormalization", {"x": x, "scale": scale},
         {"y": x / rms(x) * scale}, MS, constants=["scale"])
    case("ms_transpose_matmul", "TransposeMatMul", {"a": x, "b": skip}, {"y": f(0.5) * (x.swapaxes(1, 2) @ skip)}, MS,
         transA=1, alpha=0.5)
    image = random_bytes(1, 2, 4, 4)
    real = dequantise(image, 0.02, 120)
    mean = np.stack([real[:, :, i::2, j::2] for i in range(2) for j in range(2)]).mean(0)
    fixed = ["xs", "xz", "ys", "yz"]
    case("ms_qlinear_average_pool", "QLinearAveragePool",
         {"x": image, "xs": f(0.02), "xz": u(120), "ys": f(0.013), "yz": u(110)},
         {"y": quantise(mean, f(0.013), 110)}, MS, constants=fixed, kernel_shape=[2, 2], strides=[2, 2])
    row = random_bytes(3, 7)
    power = np.exp(dequantise(row, 0.05, 128))
    case("ms_qlinear_softmax", "QLinearSoftmax",
         {"x": row, "xs": f(0.05), "xz": u(128), "ys": f(1 / 256), "yz": u(0)},
         {"y": quantise(power / power.sum(-1, keepdims=True), f(1 / 256), 0)}, MS, constants=fixed, opset=13)
    case("ms_qlinear_softmax_old", "QLinearSoftmax",
         {"x": row, "xs": f(0.05), "xz": u(128), "ys": f(1 / 256), "yz": u(0)},
         {"y": quantise(power / power.sum(), f(1 / 256), 0)}, MS, constants=fixed, axis=0, opset=12)
    a = rand(2, 3)
    write("sequence_empty",
          [node("SequenceEmpty", [], ["s"]), node("SequenceInsert", ["s", "a"], ["t"]),
           node("ConcatFromSequence", ["t"], ["y"], axis=0)], {"a": a}, {"y": a})


# ---- signals and regions ----

def pairs(x):
    return np.stack([x.real, x.imag], -1).astype(np.float32)


def signals():
    x = rand(2, 8, 3)
    half = np.fft.rfft(x, axis=1)
    axis = np.array(1, np.int64)
    case("dft_inverse_onesided", "DFT", {"x": pairs(half), "length": None, "axis": axis},
         {"y": np.fft.irfft(half, axis=1)[..., None].astype(np.float32)}, constants=["axis"], inverse=1, onesided=1)
    # An odd length, longer than the spectrum says; what is no real signal's counts as if it were.
    wild = (rand(2, 4) + 1j * rand(2, 4)).astype(np.complex64)
    case("dft_inverse_onesided_length", "DFT", {"x": pairs(wild), "length": np.array(9, np.int64), "axis": axis},
         {"y": np.fft.irfft(wild, n=9, axis=1)[..., None].astype(np.float32)}, constants=["length", "axis"], inverse=1,
         onesided=1)
    # A real signal whose last axis, of one part, is left out.
    own = np.random.default_rng(20261123)  # so that what is drawn behind it stays the same
    signal, window = (own.uniform(-1, 1, shape).astype(np.float32) for shape in ((2, 20), 8))
    frames = np.stack([signal[:, 4 * f:4 * f + 8] * window for f in range(4)], 1)
    case("stft_without_parts", "STFT", {"signal": signal, "step": np.array(4, np.int64), "window": window},
         {"y": pairs(np.fft.rfft(frames, axis=2))}, constants=["step"])


def weighted_corners(plane, y, x):
    y, x = max(y, 0.0), max(x, 0.0)
    y0, x0 = min(int(y), plane.shape[0] - 1), min(int(x), plane.shape[1] - 1)
    y1, x1 = min(y0 + 1, plane.shape[0] - 1), min(x0 + 1, plane.shape[1] - 1)
    v, u = (y - y0 if y1 > y0 else 0.0), (x - x0 if x1 > x0 else 0.0)
    return [(1 - v) * (1 - u) * plane[y0, x0], (1 - v) * u * plane[y0, x1], v * (1 - u) * plane[y1, x0],
            v * u * plane[y1, x1]]


def regions():
    """The maximum is that of the weighted corners of all samples, as the cases of ONNX have it."""
    x = rand(2, 2, 6, 7)
    rois = np.array([[0, 0, 5, 4], [1, 2, 6, 5], [2.5, 1, 4, 5.5]], np.float32)
    images = np.array([0, 1, 1], np.int64)
    bins, samples = 3, 2
    y = np.zeros((3, 2, bins, bins), np.float32)
    for r, (left, top, right, bottom) in enumerate(rois.astype(float)):
        places = [[begin + (end - begin) / bins * (i + (s + 0.5) / samples) for s in range(samples)]
                  for begin, end in ((top, bottom), (left, right)) for i in range(bins)]
        for c in range(2):
            for i in range(bins):
                for j in range(bins):
                    y[r, c, i, j] = max(max(weighted_corners(x[images[r], c], a, b)) for a in places[i]
                                        for b in places[bins + j])
    case("roi_align_max", "RoiAlign", {"x": x, "rois": rois, "images": images}, {"y": y}, mode="max", output_height=bins,
         output_width=bins, sampling_ratio=samples, coordinate_transformation_mode="output_half_pixel")


# ---- weights that stay packed ----

def packed_products():
    """Zero points of the scales' type, a bias, one row, an odd number of blocks, float16."""
    k, n, block, bits = 70, 6, 32, 4
    blocks = -(-k // block)
    values = rng.integers(0, 16, (n, blocks * block)).astype(np.uint8)
    scales, bias = np.abs(rand(n, blocks)) / 16, rand(n)
    packed = pack(values, bits).reshape(n, blocks, block // 2)
    attributes = {"K": k, "N": n, "bits": bits, "block_size": block}
    zeros = rng.uniform(5, 10, (n, blocks)).astype(np.float32)

    def weights(shift, scale):
        return ((values.reshape(n, blocks, block) - shift[:, :, None]) * scale[:, :, None]).reshape(n, -1)[:, :k].T

    a = rand(1, k)
    case("ms_matmul_4bits_float_zero_points", "MatMulNBits", {"a": a, "b": packed, "scales": scales, "zeros": zeros},
         {"y": (a @ weights(zeros, scales)).astype(np.float32)}, MS, constants=["b", "scales", "zeros"], **attributes)
    a = rand(2, 2, k)
    eight = np.full((n, blocks), 8, np.float32)
    case("ms_matmul_4bits_bias", "MatMulNBits",
         {"a": a, "b": packed, "scales": scales.reshape(-1), "zeros": None, "groups": None, "bias": bias},
         {"y": (a @ weights(eight, scales) + bias).astype(np.float32)}, MS, constants=["b", "scales", "bias"], **attributes)
    h, hs = a.astype(np.float16), scales.astype(np.float16)
    case("ms_matmul_4bits_float16", "MatMulNBits", {"a": h, "b": packed, "scales": hs},
         {"y": (h.astype(np.float32) @ weights(eight, hs.astype(np.float32))).astype(np.float16)}, MS,
         constants=["b", "scales"], **attributes)


# ---- attention with graphs of its own ----

def flex_attentions():
    f, preview = np.float32, "ai.onnx.preview"
    q, k, v = rand(2, 4, 5, 8), rand(2, 2, 6, 8), rand(2, 2, 6, 3)
    keys, values = np.repeat(k, 2, 1), np.repeat(v, 2, 1)
    scores = q @ keys.swapaxes(-1, -2)

    def write_flex(name, probabilities, out=values, **attributes):
        write(name, [node("FlexAttention", ["q", "k", "v"], ["y"], preview, **attributes)], {"q": q, "k": k, "v": v},
              {"y": (probabilities @ out).astype(f)})

    write_flex("flex_attention", softmax(scores / math.sqrt(8)))
    cap = graph([("s", "float32", [None] * 4)], ["t"],
                [node("Div", ["s", "cap"], ["a"]), node("Tanh", ["a"], ["b"]), node("Mul", ["b", "cap"], ["t"])], cap=f(2))
    half = graph([("p", "float32", [None] * 4)], ["r"], [node("Mul", ["p", "half"], ["r"])], half=f(0.5))
    write_flex("flex_attention_modified", 0.5 * softmax(2 * np.tanh(scores * 0.3 / 2)), scale=0.3, score_mod=cap,
               prob_mod=half)
    i64 = np.int64
    causal = graph([("s", "float32", [None] * 4)], ["t"],
                   [node("Shape", ["s"], ["d"]), node("Gather", ["d", "two"], ["l"], axis=0),
                    node("Gather", ["d", "three"], ["n"], axis=0), node("Range", ["zero", "l", "one"], ["qr"]),
                    node("Reshape", ["qr", "qs"], ["qi"]), node("Range", ["zero", "n", "one"], ["kr"]),
                    node("Reshape", ["kr", "ks"], ["ki"]), node("GreaterOrEqual", ["qi", "ki"], ["m"]),
                    node("Where", ["m", "s", "low"], ["t"])],
                   zero=np.array(0, i64), one=np.array(1, i64), two=np.array(2, i64), three=np.array(3, i64),
                   qs=np.array([1, 1, -1, 1], i64), ks=np.array([1, 1, 1, -1], i64), low=f(-np.inf))
    seen = np.arange(5)[:, None] >= np.arange(6)[None, :]
    write_flex("flex_attention_causal", softmax(np.where(seen, scores / math.sqrt(8), -np.inf)), score_mod=causal)


# ---- tensors of small types ----

def float_of(code, exponent_bits, mantissa_bits, bias, sign=True):
    """Finite codes only."""
    bits = exponent_bits + mantissa_bits
    exponent, mantissa = (code >> mantissa_bits) & ((1 << exponent_bits) - 1), code & ((1 << mantissa_bits) - 1)
    part = mantissa / (1 << mantissa_bits)
    value = 2.0 ** (1 - bias) * part if exponent == 0 and sign else 2.0 ** (exponent - bias) * (1 + part)
    return -value if sign and code >> bits & 1 else value


INTS = {"uint4": (21, 4, 0), "int4": (22, 4, -8), "uint2": (25, 2, 0), "int2": (26, 2, -2)}
FLOATS = {"float8e4m3fn": (17, 8, (4, 3, 7)), "float8e4m3fnuz": (18, 8, (4, 3, 8)), "float8e5m2": (19, 8, (5, 2, 15)),
          "float8e5m2fnuz": (20, 8, (5, 2, 16)), "float4e2m1": (23, 4, (2, 1, 1))}


def small_types():
    f = np.float32
    for name, (number, bits, low) in INTS.items():
        values = rng.integers(low, low + (1 << bits), (5, 7))
        zeros = rng.integers(low, low + (1 << bits), 5)
        scale = np.abs(rand(5)) + f(0.1)
        case(f"dequantize_{name}", "DequantizeLinear",
             {"x": Packed(number, bits, values), "s": scale, "z": Packed(number, bits, zeros)},
             {"y": ((values - zeros[:, None]) * scale[:, None]).astype(f)}, constants=["s"], axis=0)
        x = (rand(3, 4) * 12).astype(f)
        step, zero = f(0.7), rng.integers(low, low + (1 << bits))
        whole = np.clip(np.rint(x / step) + zero, low, low + (1 << bits) - 1)
        write(f"quantize_{name}",
              [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])],
              {"x": x, "s": step, "z": Packed(number, bits, zero)}, {"y": ((whole - zero) * step).astype(f)}, ["s"])
    # Blocks along the first axis, the last one cut.
    values, zeros = rng.integers(-8, 8, (40, 6)), rng.integers(-8, 8, (3, 6))
    scale = np.abs(rand(3, 6)) + f(0.1)
    wide = np.repeat(zeros, 16, 0)[:40], np.repeat(scale, 16, 0)[:40]
    case("dequantize_int4_blocks", "DequantizeLinear",
         {"x": Packed(22, 4, values), "s": scale, "z": Packed(22, 4, zeros)}, {"y": ((values - wide[0]) * wide[1]).astype(f)},
         constants=["s"], axis=0, block_size=16)
    real = ((values - wide[0]) * wide[1]).astype(f)
    a = rand(2, 3, 40)
    write("matmul_int4_blocks",
          [node("DequantizeLinear", ["x", "s", "z"], ["w"], axis=0, block_size=16), node("MatMul", ["a", "w"], ["y"])],
          {"a": a, "x": Packed(22, 4, values), "s": scale, "z": Packed(22, 4, zeros)}, {"y": a @ real}, ["s"])
    write("matmul_int4_transposed_blocks",
          [node("DequantizeLinear", ["x", "s"], ["t"], axis=1, block_size=16), node("Transpose", ["t"], ["w"], perm=[1, 0]),
           node("MatMul", ["a", "w"], ["y"])],
          {"a": a, "x": Packed(22, 4, values.T), "s": scale.T}, {"y": a @ (values * wide[1]).astype(f)}, ["s"])
    codes = rng.integers(0, 256, (40, 6)).astype(np.uint8)
    write("matmul_uint8_blocks",
          [node("DequantizeLinear", ["x", "s"], ["w"], axis=0, block_size=16), node("MatMul", ["a", "w"], ["y"])],
          {"a": a, "x": codes, "s": scale}, {"y": a @ (codes * wide[1]).astype(f)}, ["x", "s"])
    whole = rng.integers(-40, 40, (4, 4)).astype(np.int32)
    write("cast_to_int4_and_back", [node("Cast", ["x"], ["q"], to=22), node("Cast", ["q"], ["y"], to=1)], {"x": whole},
          {"y": (((whole & 15) ^ 8) - 8).astype(f)})
    for name, (number, bits, (e, m, bias)) in FLOATS.items():
        # Neither infinities nor NaN: the largest exponent of E5M2 and the last code of E4M3FN.
        codes = rng.integers(0, (1 << bits) - (0 if bits == 4 else 8), (4, 6))
        codes = codes[:, :] & ~(4 << m) if name == "float8e5m2" else codes
        codes[codes == 128] = 1
        values = np.array([[float_of(int(c), e, m, bias) for c in row] for row in codes], f)
        scale = np.abs(rand(4)) + f(0.1)
        case(f"dequantize_{name}", "DequantizeLinear", {"x": Packed(number, bits, codes), "s": scale},
             {"y": values * scale[:, None]}, constants=["s"], axis=0)
        a = rand(6)
        write(f"cast_{name}", [node("Cast", ["x"], ["w"], to=1), node("Mul", ["w", "a"], ["y"])],
              {"x": Packed(number, bits, codes), "a": a}, {"y": values * a})
    codes = np.array([[1, 120, 127], [130, 140, 254]])
    write("cast_float8e8m0", [node("Cast", ["x"], ["w"], to=1), node("Mul", ["w", "a"], ["y"])],
          {"x": Packed(24, 8, codes), "a": np.ones(3, f)}, {"y": np.array([[2.0 ** (int(c) - 127) for c in row] for row in codes], f)})
    # To the nearest value, of two the even one; what is too large is the largest.
    x = np.array([0, 1, -1.0625, 1.1875, 17, 19, 464, 1e6, -1e6, 2 ** -10, 3 * 2 ** -10, 0.3], f)
    table = np.array([float_of(c, 4, 3, 7) for c in range(127)])
    near = [min(range(127), key=lambda c: (abs(table[c] - abs(v)), c % 2)) for v in x.astype(float)]
    write("cast_to_float8e4m3fn", [node("Cast", ["x"], ["q"], to=17), node("Cast", ["q"], ["w"], to=1),
                                   node("Add", ["w", "a"], ["y"])],
          {"x": x, "a": np.zeros(12, f)}, {"y": (np.sign(x) * table[near]).astype(f)}, ["x"])


# ---- what only a run can tell ----

def computed_sizes():
    i64 = np.int64
    x = rand(2, 5, 6)
    case("center_crop_pad_computed", "CenterCropPad", {"x": x, "size": np.array([3, 9], i64)},
         {"y": np.pad(x[:, 1:4], ((0, 0), (0, 0), (1, 2)))}, axes=[1, -1])
    for align in (0, 1):
        theta = rand(2, 3, 4)
        size = [2, 1, 2, 3, 4]

        def places(n):
            return np.linspace(-1, 1, n) if align else (2 * np.arange(n) + 1) / n - 1
        gz, gy, gx = np.meshgrid(*(places(n) for n in size[2:]), indexing="ij")
        base = np.stack([gx, gy, gz, np.ones_like(gx)], -1)
        case(f"affine_grid_computed_{align}", "AffineGrid", {"theta": theta, "size": np.array(size, i64)},
             {"grid": np.einsum("dhwk,nik->ndhwi", base, theta).astype(np.float32)}, align_corners=align)
    write("cast_like_of_a_number", [node("CastLike", ["n", "x"], ["c"]), node("Max", ["x", "c"], ["y"])],
          {"n": np.array(0, i64), "x": x - 0.5}, {"y": np.maximum(x - 0.5, 0)}, constants=["n"])
    write("unsqueeze_one_number", [node("Unsqueeze", ["x", "axis"], ["u"]), node("Squeeze", ["u", "axis"], ["s"]),
                                   node("Add", ["s", "x"], ["y"])],
          {"x": x, "axis": np.array(-1, i64)}, {"y": 2 * x}, constants=["axis"])
    flags = np.array([[True, False, True], [False, False, True]])
    axes = np.array([0], i64)
    case("reduce_max_bool", "ReduceMax", {"x": flags, "axes": axes}, {"y": flags.any(0)}, constants=["axes"], keepdims=0)
    case("reduce_min_bool", "ReduceMin", {"x": flags, "axes": axes}, {"y": flags.all(0)}, constants=["axes"], keepdims=0)
    case("reduce_min_bool_of_none", "ReduceMin", {"x": flags[:0], "axes": axes}, {"y": np.ones(3, bool)}, constants=["axes"],
         keepdims=0)


def computed_sequences():
    i64 = np.int64
    a, b, x = rand(2, 3), rand(4, 3), rand(5, 2)
    write("sequence_at_computed_places",
          [node("SequenceConstruct", ["a", "b"], ["s"]), node("SequenceInsert", ["s", "a", "at"], ["t"]),
           node("SequenceErase", ["t", "first"], ["u"]), node("SequenceAt", ["u", "last"], ["z"]),
           node("SequenceLength", ["u"], ["n"]), node("ConcatFromSequence", ["u"], ["y"], axis=0)],
          {"a": a, "b": b, "at": np.array(1, i64), "first": np.array(0, i64), "last": np.array(-1, np.int32)},
          {"z": b, "n": np.array(2, i64), "y": np.concatenate([a, b])})
    write("split_to_sequence_computed_parts",
          [node("SplitToSequence", ["x", "sizes"], ["s"], axis=0), node("SequenceAt", ["s", "at"], ["p"]),
           node("Neg", ["p"], ["y"])],
          {"x": x, "sizes": np.array([2, 3], i64), "at": np.array(1, i64)}, {"y": -x[2:]}, constants=["at"])
    write("split_to_sequence_computed_size",
          [node("SplitToSequence", ["x", "size"], ["s"], axis=0), node("SequenceLength", ["s"], ["n"]),
           node("SequenceAt", ["s", "at"], ["z"]), node("ConcatFromSequence", ["s"], ["y"], axis=0)],
          {"x": x, "size": np.array(2, i64), "at": np.array(-1, i64)}, {"n": np.array(3, i64), "z": x[4:], "y": x},
          constants=["at"])
    # Trip i adds (i + 1) * a; the count is computed, the sequence empty at first or given two tensors.
    body = graph([("i", "int64", []), ("c", "bool", []), ("s", "float32", None)], ["c2", "s2"],
                 [node("Identity", ["c"], ["c2"]), node("Add", ["i", "one"], ["j"]), node("CastLike", ["j", "a"], ["f"]),
                  node("Mul", ["a", "f"], ["item"]), node("SequenceInsert", ["s", "item"], ["s2"])], one=np.array(1, i64))
    trips = [a, 2 * a, 3 * a]
    write("loop_of_a_sequence",
          [node("SequenceEmpty", [], ["e"]), node("Loop", ["n", "", "e"], ["s"], body=body),
           node("ConcatFromSequence", ["s"], ["y"], axis=1, new_axis=1), node("SequenceLength", ["s"], ["length"])],
          {"n": np.array(3, i64), "a": a}, {"y": np.stack(trips, 1), "length": np.array(3, i64)})
    write("loop_of_a_sequence_of_two",
          [node("SequenceConstruct", ["a", "b"], ["e"]), node("Loop", ["n", "", "e"], ["s"], body=body),
           node("ConcatFromSequence", ["s"], ["y"], axis=0), node("SequenceAt", ["s", "at"], ["z"])],
          {"n": np.array(2, i64), "a": a, "b": b, "at": np.array(1, i64)},
          {"y": np.concatenate([a, b, a, 2 * a]), "z": b}, constants=["at"])
    branches = {"then_branch": graph([], ["t"], [node("SequenceConstruct", ["a"], ["t"])]),
                "else_branch": graph([], ["e"], [node("SequenceConstruct", ["a", "b", "a"], ["e"])])}
    for flag in (True, False):
        write(f"if_sequences_of_two_lengths_{str(flag).lower()}",
              [node("If", ["flag"], ["s"], **branches), node("ConcatFromSequence", ["s"], ["y"], axis=0)],
              {"flag": np.array(flag), "a": a, "b": b}, {"y": a if flag else np.concatenate([a, b, a])})


def small_types_when_it_runs():
    f = np.float32
    x = (rand(6, 7) * 2.0 ** rng.integers(-12, 12, (6, 7))).astype(f)
    x[0, :4] = 0, np.inf, -np.inf, 1e9
    for name, (number, bits, (e, m, bias)) in FLOATS.items():
        codes = [c for c in range(1 << (bits - 1)) if not (name == "float8e4m3fn" and c == 127) and not (name == "float8e5m2" and c > 123)]
        table = np.array([float_of(c, e, m, bias) for c in codes])

        def nearest(v):
            return math.copysign(table[min(range(len(table)), key=lambda c: (abs(table[c] - min(abs(v), table[-1])), c % 2))], v)
        rounded = np.array([[nearest(float(v)) for v in row] for row in x], f)
        write(f"cast_to_{name}_when_it_runs", [node("Cast", ["x"], ["q"], to=number), node("Cast", ["q"], ["y"], to=1)],
              {"x": x}, {"y": rounded})
        scale = (np.abs(rand(6)) + f(0.5)).astype(f)
        scaled = x / scale[:, None]
        rounded = np.array([[nearest(float(v)) for v in row] for row in scaled], f)
        write(f"quantize_{name}", [node("QuantizeLinear", ["x", "s"], ["q"], axis=0, output_dtype=number),
                                   node("DequantizeLinear", ["q", "s"], ["y"], axis=0)],
              {"x": x, "s": scale}, {"y": rounded * scale[:, None]}, ["s"])
    # What is beyond the largest number of E4M3FN is NaN, of E5M2 infinite.
    big = np.array([448, 464, 465, 57344, 61439, 61440, -1e9], f)
    for name, number, want in (("float8e4m3fn", 17, [448, 448] + 5 * [np.nan]),
                               ("float8e5m2", 19, [448, 448, 448, 57344, 57344, np.inf, -np.inf])):
        write(f"cast_to_{name}_unsaturated", [node("Cast", ["x"], ["q"], to=number, saturate=0), node("Cast", ["q"], ["y"], to=1)],
              {"x": big}, {"y": np.array(want, f)})
    powers = np.array([1, 1.25, 1.5, 1.75, 3, 0.3, 2.0 ** -126, 1.5 * 2.0 ** 127, np.inf], f)
    for mode, want in (("up", [1, 2, 2, 2, 4, 0.5, 2.0 ** -126, 2.0 ** 127, np.nan]),
                       ("down", [1, 1, 1, 1, 2, 0.25, 2.0 ** -126, 2.0 ** 127, np.nan]),
                       ("nearest", [1, 1, 2, 2, 4, 0.25, 2.0 ** -126, 2.0 ** 127, np.nan])):
        write(f"cast_to_float8e8m0_{mode}", [node("Cast", ["x"], ["q"], to=24, round_mode=mode), node("Cast", ["q"], ["y"], to=1)],
              {"x": powers}, {"y": np.array(want, f)})


# ---- more operators of com.microsoft ----

def lstm(x, w, r, b):
    """One direction: x (steps, batch, in), w (4 hidden, in), r (4 hidden, hidden); gates in ONNX's order i, o, f, c."""
    hidden = r.shape[1]
    h = c = np.zeros((x.shape[1], hidden), np.float32)
    steps = []
    for row in x:
        i, o, forget, new = np.split(row @ w.T + h @ r.T + b[:4 * hidden] + b[4 * hidden:], 4, axis=1)
        c = sigmoid(forget) * c + sigmoid(i) * np.tanh(new)
        h = sigmoid(o) * np.tanh(c)
        steps.append(h)
    return np.stack(steps).astype(np.float32), h.astype(np.float32), c.astype(np.float32)


def recurrences_of_bytes():
    f = np.float32
    x, bias = rand(4, 2, 3), rand(2, 40)
    w, r = random_bytes(2, 3, 20, dtype=np.int8), random_bytes(2, 5, 20)
    ws, rs = np.abs(rand(2)) * f(0.02), np.abs(rand(2, 20)) * f(0.01)
    wz, rz = np.array([3, -7], np.int8), rng.integers(100, 150, (2, 20)).astype(np.uint8)
    both = [lstm(x[::1 - 2 * d], ((w[d].astype(f) - wz[d]) * ws[d]).T, ((r[d].astype(f) - rz[d]) * rs[d]).T, bias[d])
            for d in range(2)]
    y = np.stack([both[0][0], both[1][0][::-1]], 1)
    case("ms_dynamic_quantize_lstm", "DynamicQuantizeLSTM",
         {"x": x, "w": w, "r": r, "b": bias, "lengths": None, "h": None, "c": None, "p": None,
          "ws": ws, "wz": wz, "rs": rs, "rz": rz},
         {"y": y, "yh": np.stack([both[0][1], both[1][1]]), "yc": np.stack([both[0][2], both[1][2]])}, MS,
         constants=["w", "r", "b", "ws", "wz", "rs", "rz"], hidden_size=5, direction="bidirectional")


def more_products_of_bytes():
    f, u = np.float32, np.uint8
    a, b = random_bytes(3, 8), random_bytes(5, 8, dtype=np.int8)
    bs, bz = (np.abs(rand(5)) * f(0.01) + f(0.001)), np.zeros(5, np.int8)
    c = rng.integers(-2000, 2000, 5).astype(np.int32)
    y = f(0.5) * (dequantise(a, 0.02, 120) @ (b.astype(f) * bs[:, None]).T + c * (f(0.02) * bs))
    inputs = {"a": a, "as": f(0.02), "az": u(120), "b": b, "bs": bs, "bz": bz, "c": c}
    fixed = ["as", "az", "b", "bs", "bz", "c"]
    case("ms_qgemm_float", "QGemm", inputs, {"y": y.astype(f)}, MS, constants=fixed, transB=1, alpha=0.5)
    case("ms_qgemm", "QGemm", dict(inputs, ys=f(0.05), yz=u(128)), {"y": quantise(y, f(0.05), 128)}, MS,
         constants=fixed + ["ys", "yz"], transB=1, alpha=0.5)
    x, w = random_bytes(1, 5, 5, 3), random_bytes(4, 3, 1, 1, dtype=np.int8)
    real = np.einsum("nhwc,oc->nhwo", dequantise(x, 0.02, 120), w[:, :, 0, 0].astype(f) * f(0.01))
    case("ms_qlinear_conv_nhwc", "QLinearConv",
         {"x": x, "xs": f(0.02), "xz": u(120), "w": w, "ws": f(0.01), "wz": np.int8(0), "ys": f(0.0511), "yz": u(128)},
         {"y": quantise(real, f(0.0511), 128)}, MS, constants=["xs", "xz", "w", "ws", "wz", "ys", "yz"], channels_last=1)
    p, q, chosen = random_bytes(2, 3), random_bytes(3), np.array([[True, False, True], [False, False, True]])
    case("ms_qlinear_where", "QLinearWhere",
         {"chosen": chosen, "p": p, "ps": f(0.02), "pz": u(120), "q": q, "qs": f(0.04), "qz": u(100), "ys": f(0.05), "yz": u(128)},
         {"y": quantise(np.where(chosen, dequantise(p, 0.02, 120), dequantise(q, 0.04, 100)), f(0.05), 128)}, MS,
         constants=["ps", "pz", "q", "qs", "qz", "ys", "yz"])
    x, w, bias = random_bytes(2, 3, 6), random_bytes(6, 24, dtype=np.int8), rand(24)
    ws = np.abs(rand(24)) * f(0.01)
    rows = dequantise(x, 0.02, 120) @ ((w.astype(f) - f(3)) * ws) + bias
    qkv = [heads(rows[..., 8 * i:8 * i + 8], 2) for i in range(3)]
    lengths = np.array([2, 3], np.int32)
    shorter = np.where(np.arange(3)[None] < lengths[:, None], 0.0, -10000.0)[:, None, None]
    inputs = {"x": x, "w": w, "b": bias, "xs": f(0.02), "ws": ws, "lengths": lengths, "xz": u(120), "wz": np.full(24, 3, np.int8)}
    fixed = ["w", "b", "xs", "ws", "xz", "wz"]
    case("ms_qattention", "QAttention", inputs, {"y": flat(attend(*qkv, shorter)[0]).astype(f)}, MS, num_heads=2, constants=fixed)
    past = rand(2, 2, 2, 4, 4)
    k, v = np.concatenate([past[0], qkv[1]], 2), np.concatenate([past[1], qkv[2]], 2)
    case("ms_qattention_past_causal", "QAttention", dict(inputs, lengths=None, past=past),
         {"y": flat(attend(qkv[0], k, v, visible(3, 7, 4))[0]).astype(f), "present": np.stack([k, v]).astype(f)}, MS,
         num_heads=2, unidirectional=1, constants=fixed)


def rows_of_bytes():
    f, u = np.float32, np.uint8
    ids = np.array([[1, 2, 0], [4, 3, 3]], np.int32)
    segments = np.array([[0, 0, 1], [1, 0, 1]], np.int32)
    tables = {"words": random_bytes(5, 8), "places": random_bytes(6, 8), "kinds": random_bytes(2, 8),
              "gamma": random_bytes(8), "beta": random_bytes(8)}
    mask = np.array([[1, 1, 0], [1, 1, 1]], np.int32)
    scales = {name + "_s": f(0.005 * (i + 1)) for i, name in enumerate(tables)}
    zeros = {name + "_z": u(120 + i) for i, name in enumerate(tables)}
    words, places, kinds, gamma, beta = (dequantise(t, scales[n + "_s"], zeros[n + "_z"]) for n, t in tables.items())
    y, _, _ = layer_norm(words[ids] + places[:3] + kinds[segments], gamma, beta, 1e-6)
    case("ms_qembed_layer_normalization", "QEmbedLayerNormalization",
         {"ids": ids, "segments": segments, **tables, "mask": mask, **scales, **zeros},
         {"y": y.astype(f), "mask_index": mask.sum(1).astype(np.int32)}, MS,
         constants=[*tables, *scales, *zeros], epsilon=1e-6)
    rows, width, block = 6, 48, 16
    wanted = np.array([[0, 5], [2, 2], [3, 1]], np.int64)
    scales = np.abs(rand(rows, width // block)) * f(0.1)
    for bits in (4, 8):
        values = rng.integers(0, 1 << bits, (rows, width)).astype(u)
        shift = rng.integers(0, 1 << bits, (rows, width // block)).astype(u)
        for name, zero in (("", None), ("_zero_points", shift)):
            middle = np.full_like(shift, 1 << (bits - 1)) if zero is None else zero
            table = ((values.reshape(rows, -1, block) - middle[:, :, None].astype(f)) * scales[:, :, None]).reshape(rows, width)
            case(f"ms_gather_block_quantized_{bits}bits{name}", "GatherBlockQuantized",
                 {"table": pack(values, bits), "ids": wanted, "scales": scales, "zeros": None if zero is None else pack(zero, bits)},
                 {"y": table[wanted].astype(f)}, MS, constants=["table", "scales"] + ([] if zero is None else ["zeros"]),
                 bits=bits, block_size=block, gather_axis=0, quantize_axis=1)
    nibbles = values % 16
    table = (nibbles.reshape(rows, -1, block) * scales[:, :, None]).reshape(rows, width)
    case("ms_gather_block_quantized_uint4", "GatherBlockQuantized", {"table": Packed(21, 4, nibbles), "ids": wanted, "scales": scales},
         {"y": table[wanted].astype(f)}, MS, constants=["table", "scales"], block_size=block, gather_axis=0, quantize_axis=1)
    signed = rng.integers(-8, 8, (rows, width))
    table = (signed.reshape(rows, -1, block) * scales[:, :, None]).reshape(rows, width)
    case("ms_gather_block_quantized_int4", "GatherBlockQuantized", {"table": Packed(22, 4, signed), "ids": wanted, "scales": scales},
         {"y": table[wanted].astype(f)}, MS, constants=["table", "scales"], block_size=block, gather_axis=0, quantize_axis=1)


def before_onnx():
    i64 = np.int64
    x = rand(2, 3, 4)
    case("ms_trilu", "Trilu", {"x": x, "k": i64(1)}, {"y": np.triu(x, 1)}, MS, constants=["k"])
    case("ms_gather_nd", "GatherND", {"x": x, "at": np.array([[0, 2], [1, 1]], i64)}, {"y": np.stack([x[0, 2], x[1, 1]])}, MS)
    case("ms_expand_dims", "ExpandDims", {"x": x, "axis": np.int32(-1)}, {"y": x[..., None]}, MS, constants=["axis"])
    case("ms_pad", "Pad", {"x": x, "pads": np.array([0, 1, 0, 0, 0, 2], i64), "value": np.array([0.5], np.float32)},
         {"y": np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=0.5)}, MS, constants=["pads", "value"])
    case("ms_range", "Range", {"from": np.float32(1), "to": np.float32(5)}, {"y": np.arange(1, 5, dtype=np.float32)}, MS,
         constants=["from", "to"])
    image = rand(1, 1, 3, 3)
    corners = np.array([[[[-1, -1], [1, 1]], [[0, 0], [1, -1]]]], np.float32)
    case("ms_grid_sample", "GridSample", {"x": image, "grid": corners},
         {"y": np.array([[[[image[0, 0, 0, 0], image[0, 0, 2, 2]], [image[0, 0, 1, 1], image[0, 0, 0, 2]]]]])}, MS,
         mode="bilinear", align_corners=1)
    case("ms_conv_transpose_with_dynamic_pads", "ConvTransposeWithDynamicPads",
         {"x": image, "w": np.ones((1, 1, 3, 3), np.float32), "pads": np.ones(4, i64)},
         {"y": np.array([[[[sum(image[0, 0, max(i - 1, 0):i + 2, max(j - 1, 0):j + 2].reshape(-1)) for j in range(3)]
                           for i in range(3)]]], np.float32)}, MS, constants=["w", "pads"], kernel_shape=[3, 3])
    x = rand(2, 3, 5, 6)
    case("affine", "Affine", {"x": x}, {"y": x * np.float32(2.5) - 1}, alpha=2.5, beta=-1.0)
    case("crop_border", "Crop", {"x": x}, {"y": x[:, :, 2:4, 1:3]}, border=[1, 2, 3, 1])
    case("crop_scale", "Crop", {"x": x}, {"y": x[:, :, 2:4, 1:5]}, border=[1, 2, 0, 0], scale=[2, 4])
    bias = np.array([0.5, -1, 2], np.float32)
    case("image_scaler", "ImageScaler", {"x": x}, {"y": x * np.float32(0.25) + bias[:, None, None]}, scale=0.25, bias=[0.5, -1.0, 2.0])
    case("parametric_softplus", "ParametricSoftplus", {"x": x}, {"y": 0.5 * np.log1p(np.exp(2 * x))}, alpha=0.5, beta=2.0)
    case("scaled_tanh", "ScaledTanh", {"x": x}, {"y": 1.7 * np.tanh(x * 0.6)}, alpha=1.7, beta=0.6)
    gamma, beta = rand(6), rand(6)
    y, _, _ = layer_norm(x, gamma, beta, 1e-5)
    write("layer_normalization_before_onnx", [node("LayerNormalization", ["x", "gamma", "beta"], ["y"], epsilon=1e-5)],
          {"x": x, "gamma": gamma, "beta": beta}, {"y": y.astype(np.float32)}, ["gamma", "beta"], opset=12)
    half = x.astype(np.float16)
    y, mean, inverse = layer_norm(half.astype(np.float32), gamma, beta, 1e-5)
    write("layer_normalization_before_onnx_float16_data",
          [node("LayerNormalization", ["x", "gamma", "beta"], ["y", "mean", "inverse"], epsilon=1e-5)],
          {"x": half, "gamma": gamma, "beta": beta}, {"y": y.astype(np.float32), "mean": mean, "inverse": inverse}, ["gamma", "beta"], opset=12)
    scale = gamma.astype(np.float16)
    y, _, _ = layer_norm(x, scale.astype(np.float32), 0, 1e-5)
    case("ms_layer_normalization_float16_scale", "LayerNormalization", {"x": x, "scale": scale}, {"y": y.astype(np.float16)}, MS, epsilon=1e-5)


ML = "ai.onnx.ml"


def feature_steps():
    f, i64 = np.float32, np.int64
    x = rand(4, 3)
    x[2] = 0
    numbers = np.array([[1, 2, 3], [-4, 5, 6]], i64)
    case("ml_scaler", "Scaler", {"x": x}, {"y": (x - f([0.1, 0.2, 0.3])) * f([2, 3, 4])}, ML, offset=[0.1, 0.2, 0.3], scale=[2.0, 3.0, 4.0])
    case("ml_scaler_of_one_number", "Scaler", {"x": numbers}, {"y": (numbers.astype(f) - f(1)) * f(0.5)}, ML, offset=[1.0], scale=[0.5])
    for norm, size in (("MAX", x.max(1)), ("L1", np.abs(x).sum(1)), ("L2", np.sqrt((x * x).sum(1)))):
        size = np.where(size == 0, 1, size)[:, None]
        case(f"ml_normalizer_{norm.lower()}", "Normalizer", {"x": x}, {"y": (x / size).astype(f)}, ML, norm=norm)
    case("ml_binarizer", "Binarizer", {"x": x}, {"y": (x > f(0.2)).astype(f)}, ML, threshold=0.2)
    case("ml_imputer", "Imputer", {"x": x}, {"y": np.where(x == 0, f([1, 2, 3]), x)}, ML, imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=0.0)
    case("ml_imputer_of_integers", "Imputer", {"x": numbers}, {"y": np.where(numbers == 5, 9, numbers)}, ML,
         imputed_value_int64s=[9], replaced_value_int64=5)
    case("ml_label_encoder", "LabelEncoder", {"x": numbers}, {"y": f([[0.5, -2, 1.5], [-2, -2, 7]])}, ML,
         keys_int64s=[1, 3, 6], values_floats=[0.5, 1.5, 7.0], default_float=-2.0)
    case("ml_label_encoder_of_nan", "LabelEncoder", {"x": f([np.nan, 2, 3])}, {"y": np.array([4, 5, -1], i64)}, ML,
         keys_tensor=tensor(f([np.nan, 2])), values_int64s=[4, 5])
    case("ml_label_encoder_of_tensors", "LabelEncoder", {"x": numbers}, {"y": np.array([[10, 42, 30], [42, 42, 42]], i64)}, ML,
         keys_tensor=tensor(np.array([1, 3], i64)), values_tensor=tensor(np.array([10, 30], i64)), default_tensor=tensor(np.array([42], i64)))
    case("ml_one_hot_encoder", "OneHotEncoder", {"x": numbers[0]}, {"y": f([[0, 0], [1, 0], [0, 1]])}, ML, cats_int64s=[2, 3])
    case("ml_array_feature_extractor", "ArrayFeatureExtractor", {"x": x, "at": np.array([2, 0], i64)}, {"y": x[:, [2, 0]]}, ML)
    case("ml_feature_vectorizer", "FeatureVectorizer", {"x": x, "n": x[:, :2]},
         {"y": np.concatenate([x[:, :2], x[:, :2], np.zeros((4, 1), f)], 1)}, ML, inputdimensions=[2, 3])
    case("ml_feature_vectorizer_of_other_ranks", "FeatureVectorizer", {"x": x[0], "n": x[:1].reshape(1, 1, 3)},
         {"y": np.concatenate([x[:1], x[:1, :2]], 1)}, ML, inputdimensions=[3, 2])
    case("ml_zip_map", "ZipMap", {"x": x}, {"y": x}, ML, classlabels_int64s=[7, 8, 9])


def softmax_of(scores):
    e = np.exp(scores - scores.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def linear_models():
    f, i64 = np.float32, np.int64
    x = rand(5, 4)
    w, b = rand(3, 4), rand(3)
    scores = x @ w.T + b
    flat, intercepts = [float(v) for v in w.reshape(-1)], [float(v) for v in b]
    labels = np.array([10, 20, 30], i64)
    case("ml_linear_classifier", "LinearClassifier", {"x": x}, {"label": labels[scores.argmax(1)], "scores": softmax_of(scores).astype(f)}, ML,
         coefficients=flat, intercepts=intercepts, classlabels_ints=[10, 20, 30], post_transform="SOFTMAX")
    one = scores[:, :1]
    for name, both in (("logistic", np.concatenate([sigmoid(-one), sigmoid(one)], 1)), ("none", np.concatenate([1 - one, one], 1))):
        case(f"ml_linear_classifier_of_two_{name}", "LinearClassifier", {"x": x},
             {"label": np.where(one[:, 0] > 0, 8, 5).astype(i64), "scores": both.astype(f)}, ML,
             coefficients=flat[:4], intercepts=intercepts[:1], classlabels_ints=[5, 8], post_transform=name.upper())
    case("ml_linear_regressor", "LinearRegressor", {"x": x}, {"y": scores.astype(f)}, ML, coefficients=flat, intercepts=intercepts, targets=3)
    case("ml_linear_regressor_probit", "LinearRegressor", {"x": f([[0.1], [0.5], [0.9]])},
         {"y": f([[-1.2817], [0], [1.2817]])}, ML, coefficients=[1.0], targets=1, post_transform="PROBIT")
    # More coefficients than inputs: the first ones count, as in ONNX Runtime.
    narrow = x[:, :2] @ np.reshape(f(flat[:6]), (3, 2)).T + b
    case("ml_linear_classifier_of_more_coefficients", "LinearClassifier", {"x": x[:, :2]},
         {"label": labels[narrow.argmax(1)], "scores": narrow.astype(f)}, ML, coefficients=flat, intercepts=intercepts, classlabels_ints=[10, 20, 30])


def coupled(pairs, classes):
    """Wu, Lin, Weng 2004, algorithm 2, by its first formulas, with LIBSVM's end."""
    r = np.zeros((classes, classes))
    upper = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    for (i, j), wins in zip(upper, pairs):
        r[i, j], r[j, i] = wins, 1 - wins
    q = -r.T * r
    q[np.diag_indices(classes)] = (r * r).sum(0)
    p = np.full(classes, 1 / classes)
    for _ in range(100):
        if np.abs(q @ p - p @ q @ p).max() < 0.005 / classes:
            break
        for t in range(classes):
            p[t] = (p @ q @ p - q[t] @ p + q[t, t] * p[t]) / q[t, t]
            p /= p.sum()
    return p


def support_vectors():
    f, i64 = np.float32, np.int64
    features, per_class = 3, [2, 3, 1]
    classes, vectors = len(per_class), sum(per_class)
    x, support, given, rho = rand(7, features), rand(vectors, features), rand(classes - 1, vectors), rand(3)
    owner = np.repeat(np.arange(classes), per_class)
    upper = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    gamma, coef0, degree = 0.5, 0.25, 3.0
    dots = x @ support.T
    kernel_of = {"LINEAR": dots, "POLY": (gamma * dots + coef0) ** degree, "SIGMOID": np.tanh(gamma * dots + coef0),
                 "RBF": np.exp(-gamma * ((x[:, None] - support[None]) ** 2).sum(2))}
    flat = lambda a: [float(v) for v in np.asarray(a).reshape(-1)]
    labels = [10, 20, 30]
    for kind, kernel in kernel_of.items():
        attributes = {"kernel_type": kind, "kernel_params": [gamma, coef0, degree], "support_vectors": flat(support), "rho": flat(rho)}
        scores = np.zeros((len(x), len(upper)))
        votes = np.zeros((len(x), classes))
        for p, (i, j) in enumerate(upper):
            scores[:, p] = rho[p] + kernel[:, owner == i] @ given[j - 1, owner == i] + kernel[:, owner == j] @ given[i, owner == j]
            votes[:, i] += scores[:, p] > 0
            votes[:, j] += scores[:, p] <= 0
        label = np.array(labels, i64)[votes.argmax(1)]
        several = {"vectors_per_class": per_class, "coefficients": flat(given), "classlabels_ints": labels}
        case(f"ml_svm_classifier_{kind.lower()}", "SVMClassifier", {"x": x}, {"label": label, "scores": scores.astype(f)}, ML, **attributes, **several)
        a, b = f([-1.5, -0.5, -1]), f([0.25, 0, -0.5])
        wins = 1 / (1 + np.exp(scores * a + b))
        probabilities = np.array([coupled(row, classes) for row in wins])
        case(f"ml_svm_classifier_probabilities_{kind.lower()}", "SVMClassifier", {"x": x}, {"label": label, "scores": probabilities.astype(f)}, ML,
             prob_a=flat(a), prob_b=flat(b), **attributes, **several)
        weights = rand(vectors)
        case(f"ml_svm_regressor_{kind.lower()}", "SVMRegressor", {"x": x}, {"y": (kernel @ weights + rho[0]).astype(f)[:, None]}, ML,
             **{**attributes, "coefficients": flat(weights), "rho": flat(rho[:1]), "n_supports": vectors})
    first = dots[:, :5] @ given.reshape(-1)[:5] + rho[0]
    two = {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0], "support_vectors": flat(support[:5]), "rho": flat(rho[:1]),
           "vectors_per_class": [2, 3], "coefficients": flat(given)[:5], "classlabels_ints": [4, 6]}
    case("ml_svm_classifier_of_two", "SVMClassifier", {"x": x}, {"label": np.where(first > 0, 4, 6).astype(i64),
         "scores": np.stack([-first, first], 1).astype(f)}, ML, **two)
    w = rand(3, features)
    linear = x @ w.T + rho[0]
    case("ml_svm_classifier_linear_without_vectors", "SVMClassifier", {"x": x}, {"label": np.array(labels, i64)[linear.argmax(1)],
         "scores": linear.astype(f)}, ML, coefficients=flat(w), rho=flat(rho[:1]), kernel_params=[0.0, 0.0, 0.0], classlabels_ints=labels)
    one = (x @ w[0] + rho[0])[:, None]
    case("ml_svm_regressor_one_class", "SVMRegressor", {"x": x}, {"y": np.where(one > 0, 1, -1).astype(f)}, ML, coefficients=flat(w[0]),
         rho=flat(rho[:1]), one_class=1, n_supports=0)


def before_onnx_took_them():
    f = np.float32
    a, b = rand(5, 3), rand(4, 3)
    apart = ((a[:, None] - b[None]) ** 2).sum(2)
    case("ms_cdist", "CDist", {"a": a, "b": b}, {"y": apart.astype(f)}, MS, metric="sqeuclidean")
    case("ms_cdist_euclidean", "CDist", {"a": a, "b": b}, {"y": np.sqrt(apart).astype(f)}, MS, metric="euclidean")
    x = f([2, 1, 1, 3, 4, 3])
    case("ms_unique", "Unique", {"x": x}, {"y": f([2, 1, 3, 4]), "at": np.array([0, 1, 1, 2, 3, 2], np.int64),
         "count": np.array([1, 2, 2, 1], np.int64)}, MS)
    case("scale", "Scale", {"x": x}, {"y": x * f(0.5)}, scale=0.5)
    case("dynamic_slice", "DynamicSlice", {"x": a, "starts": np.array([1, 0], np.int64), "ends": np.array([4, 2], np.int64)}, {"y": a[1:4, :2]},
         "", ["starts", "ends"])
    t = rand(2, 7, 3)
    windows = np.stack([t[:, i:i + 3] for i in (0, 2, 4)], 1)
    case("ms_unfold_tensor", "UnfoldTensor", {"x": t}, {"y": windows.transpose(0, 1, 3, 2)}, MS, dim=1, size=3, step=2)


class Forest:
    """Random trees, as versions 1 to 3 of ai.onnx.ml write them; nodes of each tree in breadth-first order."""

    def __init__(self, trees, depth, features, votes, modes=("BRANCH_LEQ",), nan=False):
        self.columns = {k: [] for k in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")}
        self.tracks, self.leaves, self.trees, self.nan = [], [], trees, nan
        for tree in range(trees):
            inner = (1 << depth) - 1
            for at in range(2 * inner + 1):
                is_leaf = at >= inner
                row = (tree, at, int(rng.integers(features)), "LEAF" if is_leaf else modes[int(rng.integers(len(modes)))],
                       0.0 if is_leaf else float(rng.integers(-2, 3) / 4), 0 if is_leaf else 2 * at + 2, 0 if is_leaf else 2 * at + 1)
                for column, value in zip(self.columns.values(), row):
                    column.append(value)
                self.tracks.append(int(nan and not is_leaf and rng.integers(2)))
                if is_leaf:
                    self.leaves += [(tree, at, target, weight) for target, weight in votes()]

    def attributes(self, kind):
        names = ("treeids", "nodeids", "ids", "weights")
        nodes = {f"nodes_{k}": v for k, v in self.columns.items()}
        if self.nan:
            nodes["nodes_missing_value_tracks_true"] = self.tracks
        return {**nodes, **{f"{kind}_{n}": [leaf[i] for leaf in self.leaves] for i, n in enumerate(names)}}

    def tallies(self, x, targets, fold=np.sum):
        c, rows = self.columns, []
        at_of = {(t, n): i for i, (t, n) in enumerate(zip(c["treeids"], c["nodeids"]))}
        asks = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal,
                "BRANCH_GT": np.greater, "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal}
        for row in x:
            given = [[] for _ in range(targets)]
            for tree in range(self.trees):
                at = at_of[tree, 0]
                while c["modes"][at] != "LEAF":
                    feature = row[c["featureids"][at]]
                    yes = asks[c["modes"][at]](feature, np.float32(c["values"][at])) or (np.isnan(feature) and self.tracks[at])
                    at = at_of[tree, c["truenodeids" if yes else "falsenodeids"][at]]
                for t, n, target, weight in self.leaves:
                    if (t, n) == (tree, c["nodeids"][at]):
                        given[target].append(weight)
            rows.append([fold(g) if g else 0 for g in given])
        return np.array(rows, np.float32)


def tree_ensembles():
    f, i64 = np.float32, np.int64

    def weight(low=-1, high=1):
        return float(f"{float(np.float32(rng.uniform(low, high))):.9g}")

    modes = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
    x = (rng.integers(-3, 4, (9, 5)) / 4).astype(f)
    holes = np.where(rng.random((9, 5)) < 0.3, f("nan"), x)
    every = Forest(4, 3, 5, lambda: [(0, weight()), (2, weight())], modes, nan=True)
    case("ml_tree_regressor_every_mode", "TreeEnsembleRegressor", {"x": holes}, {"y": every.tallies(holes, 3)}, ML, n_targets=3, **every.attributes("target"))
    plain = Forest(3, 2, 5, lambda: [(0, weight())])
    for fold, name in ((np.min, "MIN"), (np.max, "MAX"), (lambda g: np.sum(g) / 3, "AVERAGE")):
        case(f"ml_tree_regressor_{name.lower()}", "TreeEnsembleRegressor", {"x": x}, {"y": plain.tallies(x, 1, fold) + f(0.25)}, ML,
             n_targets=1, aggregate_function=name, base_values=[0.25], **plain.attributes("target"))
    case("ml_tree_regressor_float64", "TreeEnsembleRegressor", {"x": x.astype(np.float64)}, {"y": plain.tallies(x, 1)}, ML, n_targets=1,
         **plain.attributes("target"))
    single = Forest(2, 0, 1, lambda: [(0, weight())])
    case("ml_tree_regressor_of_leaves", "TreeEnsembleRegressor", {"x": x}, {"y": single.tallies(x, 1)}, ML, n_targets=1, **single.attributes("target"))
    many = Forest(6, 2, 5, lambda: [(t, weight()) for t in range(3)])
    scores = many.tallies(x, 3) + f([0.1, 0.2, 0.3])
    labels = np.array([4, 5, 6], i64)
    case("ml_tree_classifier", "TreeEnsembleClassifier", {"x": x}, {"label": labels[scores.argmax(1)], "scores": softmax_of(scores).astype(f)}, ML,
         classlabels_int64s=[4, 5, 6], post_transform="SOFTMAX", base_values=[0.1, 0.2, 0.3], **many.attributes("class"))
    sure = Forest(3, 2, 5, lambda: [(0, weight(0, 0.33))])
    score = sure.tallies(x, 1)
    case("ml_tree_classifier_of_probabilities", "TreeEnsembleClassifier", {"x": x},
         {"label": np.where(score[:, 0] > 0.5, 9, 7).astype(i64), "scores": np.concatenate([1 - score, score], 1)}, ML,
         classlabels_int64s=[7, 9], **sure.attributes("class"))
    margins = Forest(3, 2, 5, lambda: [(0, weight())])
    score = margins.tallies(x, 1) + f(0.125)
    for name, both in (("LOGISTIC", np.concatenate([sigmoid(-score), sigmoid(score)], 1)), ("NONE", np.concatenate([-score, score], 1))):
        case(f"ml_tree_classifier_of_margins_{name.lower()}", "TreeEnsembleClassifier", {"x": x},
             {"label": np.where(score[:, 0] > 0, 9, 7).astype(i64), "scores": both.astype(f)}, ML,
             classlabels_int64s=[7, 9], post_transform=name, base_values=[0.125], **margins.attributes("class"))
    second = Forest(3, 2, 5, lambda: [(1, weight(0, 0.33))])
    score = second.tallies(x, 2)
    case("ml_tree_classifier_of_the_second", "TreeEnsembleClassifier", {"x": x},
         {"label": np.where(score[:, 1] > 0.5, 9, 7).astype(i64), "scores": score}, ML, classlabels_int64s=[7, 9], **second.attributes("class"))
    # Two trees by places: (x0 <= 0.25 ? leaf 1 : (x1 > 0 ? leaf 0 : leaf 2)), and a tree that is leaf 3.
    y = np.where(x[:, 0] <= 0.25, 2.0, np.where(x[:, 1] > 0, 1.0, 3.0)) + 10
    case("ml_tree_ensemble", "TreeEnsemble", {"x": x}, {"y": y[:, None].astype(f)}, ML, n_targets=1, aggregate_function=1, tree_roots=[0, 2],
         nodes_featureids=[0, 1, 0], nodes_modes=tensor(np.array([0, 3, 0], np.uint8)), nodes_splits=tensor(f([0.25, 0, 0])),
         nodes_truenodeids=[1, 0, 3], nodes_trueleafs=[1, 1, 1], nodes_falsenodeids=[1, 2, 3], nodes_falseleafs=[0, 1, 1],
         leaf_targetids=[0, 0, 0, 0], leaf_weights=tensor(f([1, 2, 3, 10])))


def inverses():
    for name, shape in (("one", (3, 3)), ("batch", (2, 2, 5, 5))):
        x = rand(*shape) + 2 * np.eye(shape[-1], dtype=np.float32)
        case(f"ms_inverse_{name}", "Inverse", {"x": x}, {"y": np.linalg.inv(x.astype(np.float64)).astype(np.float32)}, MS)
    x = (rand(3, 3) + 2 * np.eye(3)).astype(np.float16)
    case("ms_inverse_float16", "Inverse", {"x": x}, {"y": np.linalg.inv(x.astype(np.float64)).astype(np.float16)}, MS)


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


def crops():
    x, at = rand(2, 3, 5, 6), np.array([1, 0, 1], np.int32)
    boxes = np.array([[0.1, 0.2, 0.7, 0.93], [0.8, 1.0, 0.05, 0.0], [-0.3, 0.4, 0.6, 1.25]], np.float32)
    for name, mode, size, outside in (("bilinear", None, (3, 4), 0.0), ("nearest", "nearest", (2, 3), 0.0),
                                      ("outside", "bilinear", (4, 2), -2.5), ("one_pixel", "bilinear", (1, 1), 0.0)):
        y = np.stack([crop(x[n], box.astype(float), *size, mode == "nearest", outside) for n, box in zip(at, boxes)])
        attributes = {**({"mode": mode} if mode else {}), **({"extrapolation_value": outside} if outside else {})}
        case(f"ms_crop_and_resize_{name}", "CropAndResize", {"x": x, "boxes": boxes, "at": at, "size": np.array(size, np.int32)},
             {"y": y}, MS, constants=["size"], **attributes)


def masked_pools():
    """Along the last axis a window ends at a mask of 0; the first element of several axes counts in any case."""
    lowest = np.finfo(np.float32).min

    def pooled(x, mask, kernel, strides, pads):
        shape, axes = x.shape[2:], len(kernel)
        counts = [(s + pads[i] + pads[i + axes] - kernel[i]) // strides[i] + 1 for i, s in enumerate(shape)]
        y = np.full(x.shape[:2] + tuple(counts), lowest, np.float32)
        for place in np.ndindex(*y.shape):
            begins = [place[2 + i] * strides[i] - pads[i] for i in range(axes)]
            for rows in np.ndindex(*kernel[:-1]):
                row = [b + r for b, r in zip(begins, rows)]
                if any(not 0 <= r < s for r, s in zip(row, shape)):
                    continue
                for c in range(max(begins[-1], 0), min(begins[-1] + kernel[-1], shape[-1])):
                    at = (*row, c)
                    if mask[(0, 0, *at)] == 0 and (axes == 1 or any(at)):
                        break
                    y[place] = max(y[place], x[(*place[:2], *at)])
        return y

    for name, shape, kernel, strides, pads in (
            ("line", (2, 2, 9), [3], [2], [1, 1]), ("image", (2, 2, 4, 6), [2, 3], [1, 2], [1, 0, 0, 2]),
            ("volume", (1, 2, 3, 4, 4), [2, 2, 2], [1, 2, 1], [0] * 6)):
        x, mask = rand(*shape), (rng.random((1, 1, *shape[2:])) < 0.7).astype(np.int32)
        case(f"ms_maxpool_with_mask_{name}", "MaxpoolWithMask", {"x": x, "mask": mask}, {"y": pooled(x, mask, kernel, strides, pads)}, MS,
             kernel_shape=kernel, strides=strides, pads=pads)


def ngrams():
    def blocked(tokens, scores, size):
        y = scores.copy()
        for row, text in zip(y, tokens.tolist()):
            for i in range(len(text) - size + 1):
                if text[i:i + size - 1] == text[len(text) - size + 1:]:
                    row[text[i + size - 1]] = -np.inf
        return y

    for name, length, size in (("pairs", 9, 2), ("triples", 12, 3), ("tokens", 2, 1), ("short", 2, 4)):
        tokens, scores = rng.integers(0, 4, (2, length)), rand(2, 4)
        case(f"ms_ngram_repeat_block_{name}", "NGramRepeatBlock", {"tokens": tokens, "scores": scores},
             {"y": blocked(tokens, scores, size)}, MS, ngram_size=size)


def murmur(data, seed):
    """The 32-bit hash of whole words."""
    def rotated(x, by):
        return (x << by | x >> (32 - by)) & 0xffffffff

    h = seed & 0xffffffff
    for at in range(0, len(data), 4):
        k = rotated(int.from_bytes(data[at:at + 4], "little") * 0xcc9e2d51 & 0xffffffff, 15) * 0x1b873593 & 0xffffffff
        h = (rotated(h ^ k, 13) * 5 + 0xe6546b64) & 0xffffffff
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85ebca6b & 0xffffffff
    h = (h ^ h >> 13) * 0xc2b2ae35 & 0xffffffff
    return h ^ h >> 16


def hashes():
    keys = {"int32": np.array([[3, -4], [0, 2**31 - 1]], np.int32), "uint32": np.array([7, 2**32 - 1], np.uint32),
            "int64": np.array([5, -(2**40)], np.int64), "uint64": np.array([2**63 + 9], np.uint64), "float32": rand(2, 2), "float64": rand(3, dtype=np.float64)}
    for name, x in keys.items():
        if x.dtype.kind == "f":  # cases have nine digits
            x = np.array([float(f"{v:.9g}") for v in x.reshape(-1).astype(float)], x.dtype).reshape(x.shape)
        y = np.array([murmur(v.tobytes(), 42) for v in x.reshape(-1)], np.uint32).reshape(x.shape)
        case(f"ms_murmur_hash_{name}", "MurmurHash3", {"x": x}, {"y": y}, MS, seed=42)
    x = keys["int32"]
    y = np.array([murmur(v.tobytes(), 0) for v in x.reshape(-1)], np.uint32).astype(np.int32).reshape(x.shape)
    case("ms_murmur_hash_signed", "MurmurHash3", {"x": x}, {"y": y}, MS, positive=0)


def weights_of_four_bits():
    fp4 = [0, 5.208333333e-03, 2 / 3, 1, 1 / 3, 0.5, 1 / 6, 0.25]
    nf4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
           -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
           0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]
    for kind, (name, table) in enumerate((("fp4", fp4 + [-v for v in fp4]), ("nf4", nf4))):
        k, n, block = (24, 5, 16) if kind else (33, 3, 32)
        a, scales = rand(2, 3, k), np.abs(rand(-(-k * n // block)))
        codes = rng.integers(0, 16, k * n)
        weights = np.array(table)[codes] * np.repeat(scales, block)[:k * n]
        padded = np.append(codes, [0] * (k * n % 2)).reshape(-1, 2)
        packed = (padded[:, 0] * 16 + padded[:, 1]).astype(np.uint8)
        case(f"ms_matmul_bnb4_{name}", "MatMulBnb4", {"a": a, "b": packed, "scales": scales},
             {"y": (a @ weights.reshape(n, k).T).astype(np.float32)}, MS, constants=["b", "scales"], K=k, N=n, block_size=block, quant_type=kind)


def shares_of_experts(scores, k, normalised):
    shares, all_shares = np.zeros_like(scores), softmax_of(scores)
    for row, choice, of in zip(shares, np.argsort(-scores, 1)[:, :k], all_shares):
        row[choice] = of[choice] / (of[choice].sum() if normalised else 1)
    return shares


def experts():
    e, hidden, inner, f = 4, 6, 5, np.float32
    x, scores = rand(2, 3, hidden), rand(6, e) * 3
    w1, w2, b1, b2 = rand(e, inner, hidden), rand(e, hidden, inner), rand(e, inner), rand(e, hidden)
    acts = {"relu": lambda v: np.maximum(v, 0), "gelu": gelu_tanh, "silu": swish, "identity": lambda v: v}

    def mixed(first, second, shares, act):
        rows = x.reshape(-1, first.shape[2])
        each = np.stack([act(rows @ first[i].T + b1[i]) @ second[i].T + b2[i] for i in range(e)])
        return (each * shares.T[..., None]).sum(0).reshape(x.shape).astype(f)

    for name, act in acts.items():
        normalised = name in ("gelu", "identity")
        y = mixed(w1, w2, shares_of_experts(scores, 2, normalised), act)
        case(f"ms_moe_{name}", "MoE", {"x": x, "scores": scores, "w1": w1, "b1": b1, "w2": w2, "b2": b2}, {"y": y}, MS,
             constants=["w1", "b1", "w2", "b2"], k=2, activation_type=name, normalize_routing_weights=int(normalised))
    w1, b1 = rand(e, 2 * inner, hidden), rand(e, 2 * inner)

    def gated(v):
        gate, value = np.minimum(v[:, 0::2], f(0.75)), np.clip(v[:, 1::2], -0.75, 0.75)
        return swish(gate, 1.5) * (value + 0.5)

    y = mixed(w1, w2, shares_of_experts(scores, 1, False), gated)
    case("ms_moe_swiglu", "MoE", {"x": x, "scores": scores, "w1": w1, "b1": b1, "w2": w2, "b2": b2}, {"y": y}, MS,
         constants=["w1", "b1", "w2", "b2"], activation_type="swiglu", swiglu_fusion=1, swiglu_limit=0.75, activation_alpha=1.5, activation_beta=0.5)
    hidden, inner = 32, 16
    x = rand(2, 3, hidden)
    for bits, block in ((4, 0), (8, 0), (4, 16), (8, 16)):
        layers = []
        for rows, columns in ((inner, hidden), (hidden, inner)):
            codes = rng.integers(0, 1 << bits, (e, rows, columns))
            scales = (np.abs(rand(e, rows, columns // (block or columns))) / (1 << bits)).astype(f)
            weights = (codes - (1 << bits - 1)) * np.repeat(scales, block or columns, -1)
            packed = pack(codes.reshape(e * rows, columns), bits).reshape(e, rows, -1)
            layers.append((packed, scales if block else scales[..., 0], weights))
        (p1, s1, w1), (p2, s2, w2) = layers
        b1, b2 = rand(e, inner), rand(e, hidden)
        y = mixed(w1, w2, shares_of_experts(scores, 2, True), swish)
        case(f"ms_qmoe_{bits}_bits_{block or 'row'}", "QMoE", {"x": x, "scores": scores, "w1": p1, "s1": s1, "b1": b1, "w2": p2, "s2": s2, "b2": b2},
             {"y": y}, MS, constants=["w1", "s1", "b1", "w2", "s2", "b2"], k=2, activation_type="silu", expert_weight_bits=bits,
             **({"block_size": block} if block else {}))


def masked_decoders():
    b, h, d, room, past = 2, 2, 4, 6, 3
    token, key, value, bias = rand(b, 1, h * d), rand(b, 1, h * d), rand(b, 1, h * d), rand(3 * h * d)
    keys, values = rand(b, h, room, d), rand(b, h, room, d)
    mask = np.array([[1, 1, 1, 1], [0, 1, 1, 1]], np.int32)

    def heads(x, i):
        return (x + bias[i * h * d:(i + 1) * h * d]).reshape(b, 1, h, d).transpose(0, 2, 1, 3)

    k, v = keys.copy(), values.copy()
    k[:, :, past:past + 1], v[:, :, past:past + 1] = heads(key, 1), heads(value, 2)
    hidden = np.where(mask[:, None, None], 0, -10000.0)
    y = attend(heads(token, 0), k[:, :, :past + 1], v[:, :, :past + 1], hidden)[0].transpose(0, 2, 1, 3).reshape(b, 1, h * d)
    inputs = {"token": token, "key": key, "value": value, "mask": mask, "added": None, "keys": keys, "values": values,
              "past": np.array([past], np.int32), "beams": None, "indirection": None, "bias": bias}
    case("ms_decoder_masked_attention", "DecoderMaskedMultiHeadAttention", inputs, {"y": y, "present_k": k, "present_v": v}, MS,
         constants=["bias"], num_heads=h, past_present_share_buffer=1)
    q = token.reshape(b, 1, h, d).transpose(0, 2, 1, 3)
    y, _, _, scores, _ = attend(q, keys, values, scale=0.7)
    case("ms_decoder_masked_attention_cross", "DecoderMaskedMultiHeadAttention", {"token": token, "key": keys, "value": values},
         {"y": y.transpose(0, 2, 1, 3).reshape(b, 1, h * d), "k": None, "v": None, "scores": scores.astype(np.float32)}, MS, num_heads=h,
         scale=0.7, output_qk=1)


def sparse_attentions():
    b, h, kv, d, size, room = 2, 4, 2, 16, 4, 12
    begins = np.array([[0, 1, 3, 6], [0, 1, 2, 4]], np.int32)  # of layouts: all blocks, and the token's own with the first
    columns = np.array([[0, 0, 1, 0, 1, 2], [0, 1, 0, 2, -1, -1]], np.int32)
    seen = np.zeros((2, 3, 3), bool)
    for layout in range(2):
        for row in range(3):
            seen[layout, row, columns[layout, begins[layout, row]:begins[layout, row + 1]]] = True
    cos, sin = angles(room, d // 2)
    for name, tokens, total in (("prompt", 9, 9), ("token", 1, 11)):
        lengths = np.array([total, total - 2], np.int32) if tokens == 1 else np.array([total, total], np.int32)
        past = lengths - tokens
        packed, keys, values = rand(b, tokens, (h + 2 * kv) * d), rand(b, kv, room, d), rand(b, kv, room, d)
        q, k, v = (part.reshape(b, tokens, -1, d).transpose(0, 2, 1, 3) for part in np.split(packed, [h * d, (h + kv) * d], 2))
        places = past[:, None] + np.arange(tokens)
        q, k = rotate(q, cos[places], sin[places]), rotate(k, cos[places], sin[places])
        present_k, present_v = keys.copy(), values.copy()
        hidden = np.full((b, h, tokens, room), -np.inf)
        for n in range(b):
            present_k[n, :, past[n]:past[n] + tokens], present_v[n, :, past[n]:past[n] + tokens] = k[n], v[n]
            for head in range(h):
                for i, place in enumerate(places[n]):
                    for key in range(place + 1):
                        if seen[head % 2, place // size, key // size]:
                            hidden[n, head, i, key] = 0
        y = attend(q, present_k, present_v, hidden)[0].transpose(0, 2, 1, 3).reshape(b, tokens, h * d)
        case(f"ms_sparse_attention_{name}", "SparseAttention",
             {"packed": packed, "k": None, "v": None, "keys": keys, "values": values, "begins": begins, "columns": columns,
              "total": np.array([total], np.int32), "lengths": lengths, "cos": cos, "sin": sin},
             {"y": y, "present_k": present_k, "present_v": present_v}, MS, constants=["begins", "columns", "cos", "sin"],
             num_heads=h, kv_num_heads=kv, sparse_block_size=size, do_rotary=1)


def sinks():
    """One more term in the sums of each head's softmax, and one of 0."""
    q, k, v = rand(2, 3, 32), rand(2, 3, 16), rand(2, 3, 16)
    hq, hk, hv = heads(q, 4), heads(k, 2), heads(v, 2)
    sink = rand(4) * 3
    for name, of_heads in (("head_sink", sink), ("smooth_softmax", np.zeros(4, np.float32))):
        pad = [(0, 0), (0, 0), (0, 1), (0, 0)]
        bias = np.broadcast_to(visible(3, 3), (2, 4, 3, 3))
        bias = np.concatenate([bias, np.broadcast_to(of_heads[None, :, None, None], (2, 4, 3, 1))], -1)
        y = flat(attend(hq, np.pad(hk, pad), np.pad(hv, pad), bias)[0])
        inputs = {"q": q, "k": k, "v": v, "past_k": None, "past_v": None, "lengths": np.array([2, 2], np.int32), "total": np.array(3, np.int32)}
        if name == "head_sink":
            inputs.update({"cos": None, "sin": None, "places": None, "bias": None, "sink": sink})
        case(f"ms_group_query_attention_{name}", "GroupQueryAttention", inputs, {"y": y, "present_k": hk, "present_v": hv}, MS,
             constants=["total"], num_heads=4, kv_num_heads=2, **({} if name == "head_sink" else {"smooth_softmax": 1}))


def three_places():
    x, pairs = rand(2, 3, 2, 12), 6
    cos, sin = angles(9, pairs)
    places = rng.integers(0, 9, (3, 2, 3))
    case_of = {0: [0, 0, 0, 1, 1, 2], 1: [0, 1, 2, 0, 1, 0]}
    for layout, streams in case_of.items():
        c, s = (np.stack([table[places[stream], i] for i, stream in enumerate(streams)], -1) for table in (cos, sin))
        y = rotate(x.transpose(0, 2, 1, 3), c, s).transpose(0, 2, 1, 3).reshape(2, 3, 24)
        case(f"ms_mrotary_embedding_{layout}", "MRotaryEmbedding", {"x": x.reshape(2, 3, 24), "places": places, "cos": cos, "sin": sin},
             {"y": y}, MS, constants=["cos", "sin"], mrope_section=[3, 2, 1], mrope_layout=layout, num_heads=2)
    y = rotate(x.transpose(0, 2, 1, 3), cos[places[0]], sin[places[0]], True)
    case("ms_mrotary_embedding_interleaved", "MRotaryEmbedding", {"x": x.transpose(0, 2, 1, 3), "places": places, "cos": cos, "sin": sin},
         {"y": y}, MS, constants=["cos", "sin"], mrope_section=[6, 0, 0], interleaved=1)


def linear_attentions_of_fewer_heads():
    q, k, v = rand(2, 3, 2, 4), rand(2, 3, 1, 4), rand(2, 3, 4, 5)
    decay, beta, past = -np.abs(rand(2, 3, 4)), np.abs(rand(2, 3, 4)), rand(2, 4, 4, 5)
    y, state = linear_attention(np.repeat(q, 2, 2), np.repeat(k, 4, 2), v, "gated_delta", past, np.repeat(decay[..., None], 4, -1), beta)
    case("ms_linear_attention", "LinearAttention",
         {"q": q.reshape(2, 3, 8), "k": k.reshape(2, 3, 4), "v": v.reshape(2, 3, 20), "past": past, "decay": decay, "beta": beta},
         {"y": y, "state": state}, MS, q_num_heads=2, kv_num_heads=4)
    x, w, past = rand(2, 3, 5), rand(3, 1, 3), rand(2, 3, 2)
    joined = np.concatenate([past, x], 2)
    y = np.stack([(joined[:, :, t:t + 3] * w[:, 0]).sum(-1) for t in range(5)], -1)
    case("ms_causal_conv_with_state", "CausalConvWithState", {"x": x, "w": w, "b": None, "past": past},
         {"y": swish(y), "state": joined[..., -2:]}, MS, constants=["w"], activation="silu")


def products_of_words():
    for name, a, b in (("signed", np.int16, np.int16), ("mixed", np.uint16, np.int16), ("unsigned", np.uint16, np.uint16)):
        x, y = (rng.integers(0 if t is np.uint16 else -9000, 9000, s).astype(t) for t, s in ((a, (2, 3, 4)), (b, (4, 5))))
        wide = np.uint32 if a is b is np.uint16 else np.int32
        case(f"ms_matmul_integer16_{name}", "MatMulInteger16", {"a": x, "b": y}, {"y": (x.astype(np.int64) @ y.astype(np.int64)).astype(wide)}, MS)


def more_of_microsoft():
    """QMoE with rows that are no power of two, CausalConvWithState with gaps and with its channels last, a mean that is none."""
    f, e, hidden, inner = np.float32, 3, 48, 32
    x, scores = rand(4, hidden), rand(4, e) * 3
    codes = [rng.integers(0, 16, (e, *shape)) for shape in ((inner, hidden), (hidden, inner))]
    scales = [np.abs(rand(e, c.shape[1])) / 16 for c in codes]
    first, second = ((c - 8) * s[..., None] for c, s in zip(codes, scales))
    each = np.stack([np.maximum(x @ first[i].T, 0) @ second[i].T for i in range(e)])
    y = (each * shares_of_experts(scores, 2, True).T[..., None]).sum(0).astype(f)
    packed = [pack(c.reshape(-1, c.shape[2]), 4).reshape(e, c.shape[1], -1) for c in codes]
    case("ms_qmoe_rows_of_48", "QMoE", {"x": x, "scores": scores, "w1": packed[0], "s1": scales[0], "b1": None, "w2": packed[1], "s2": scales[1]},
         {"y": y}, MS, constants=["w1", "s1", "w2", "s2"], k=2, expert_weight_bits=4)
    x, w, b, past = rand(2, 5, 3), rand(3, 1, 3), rand(3), rand(2, 4, 3)
    joined = np.concatenate([past, x], 1)
    y = np.stack([(joined[:, t:t + 5:2] * w[:, 0].T).sum(1) + b for t in range(5)], 1)
    case("ms_causal_conv_with_state_dilated", "CausalConvWithState", {"x": x.transpose(0, 2, 1), "w": w, "b": b, "past": past.transpose(0, 2, 1)},
         {"y": y.transpose(0, 2, 1), "state": joined[:, -4:].transpose(0, 2, 1)}, MS, constants=["w", "b"], dilation=2)
    case("ms_causal_conv_with_state_channels_last", "CausalConvWithState", {"x": x, "w": w, "b": b, "past": past},
         {"y": y, "state": joined[:, -4:]}, MS, constants=["w", "b"], dilation=2, channels_last=1)
    x, skip, scale = rand(2, 3, 8), rand(2, 3, 8), rand(8)
    total = x + skip
    case("ms_skip_simplified_layer_normalization_mean", "SkipSimplifiedLayerNormalization", {"x": x, "skip": skip, "gamma": scale},
         {"y": total / rms(total) * scale, "mean": np.zeros((2, 3, 1), f)}, MS)


def time_warping():
    def cheapest(costs):
        rows, columns = costs.shape
        sums, steps = np.full((rows + 1, columns + 1), np.inf, np.float32), {}
        sums[0, 0] = 0
        for i, j in np.ndindex(rows, columns):
            both, down, right = sums[i, j], sums[i, j + 1], sums[i + 1, j]
            step = (1, 1) if both < min(down, right) else (1, 0) if down < min(both, right) else (0, 1)
            steps[i, j] = step
            sums[i + 1, j + 1] = costs[i, j] + sums[i + 1 - step[0], j + 1 - step[1]]
        i, j, path = rows - 1, columns - 1, []
        while i >= 0 and j >= 0:
            path.append((i, j))
            i, j = i - steps[i, j][0], j - steps[i, j][1]
        return np.array(path[::-1], np.int32).T

    for name, x in (("real", rand(1, 5, 9)), ("ties", rng.integers(0, 3, (6, 6)).astype(np.float32))):
        case(f"ms_dynamic_time_warping_{name}", "DynamicTimeWarping", {"x": x}, {"y": cheapest(x.reshape(x.shape[-2:]))}, MS)
def texts_between_numbers():
    """Texts stand inside of a model: LabelEncoder makes them of numbers."""
    f, i64 = np.float32, np.int64
    numbers = np.array([[1, 3, 2], [9, 2, 1]], i64)
    names = np.array([["p", "r", "q"], ["?", "q", "p"]])
    to_names = node("LabelEncoder", ["x"], ["n"], ML, keys_int64s=[1, 2, 3], values_strings=["p", "q", "r"], default_string="?")

    def through(name, op, y, domain=ML, before=(), reads="n", **attributes):
        write(name, [to_names, *before, node(op, [reads] if isinstance(reads, str) else reads, ["y"], domain, **attributes)],
              {"x": numbers}, {"y": y})

    through("ml_label_encoder_of_texts", "LabelEncoder", f([[0.5, -2, 1.5], [7, 1.5, 0.5]]), keys_strings=["p", "q", "?", "p"],
            values_floats=[0.5, 1.5, 7.0, 9.0], default_float=-2.0)
    through("ml_one_hot_encoder_of_texts", "OneHotEncoder", (names[:, :, None] == np.array(["r", "s", "p"])).astype(f), cats_strings=["r", "s", "p"])
    through("ml_category_mapper", "CategoryMapper", np.array([[4, -7, 5], [-7, 5, 4]], i64), cats_strings=["p", "q"], cats_int64s=[4, 5],
            default_int64=-7)
    pool = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0, "ngram_counts": [0, 2], "ngram_indexes": [2, 0, 1]}
    through("tfidf_vectorizer_of_texts", "TfIdfVectorizer", f([[1, 0, 1], [1, 1, 1]]), "", pool_strings=["p", "q", "q", "p"], **pool)
    through("equal_of_texts", "Equal", np.broadcast_to(names == "q", (2, 3)), "", before=[node("Constant", [], ["q"], value_strings=["q"])], reads=["n", "q"])
    moves = [node("Constant", [], ["front"], value_strings=["s", "p"]), node("Constant", [], ["flat"], value_ints=[-1]),
             node("Reshape", ["n", "flat"], ["row"]), node("Concat", ["front", "row"], ["all"], axis=0)]
    through("ml_label_encoder_of_moved_texts", "LabelEncoder", np.array([-1, 1, 1, 3, 2, -1, 2, 1], i64), before=moves, reads="all",
            keys_strings=["p", "q", "r"], values_int64s=[1, 2, 3])


def computed_texts():
    """What reads letters, between numbers: LabelEncoder makes the texts, and tells what came out."""
    f, i64 = np.float32, np.int64
    texts = ["Der rote Ball", "der BALL", "ein Ärger"]
    outcomes = ["", "der", "rote", "ball", "ein", "ärger", "#", "DER ROTE BALL", "DER BALL", "EIN ÄRGER", "Der rote Ball!", "der BALL!",
                "ein Ärger!", "\x02", "\x03", "e", "r", "d"]
    names = [node("LabelEncoder", ["x"], ["n"], ML, keys_int64s=[0, 1, 2], values_strings=texts)]
    tell = {"domain": ML, "keys_strings": outcomes, "values_int64s": list(range(len(outcomes))), "default_int64": -1}

    def numbers(words):
        return np.array([[outcomes.index(each) for each in row] if isinstance(row, list) else outcomes.index(row) for row in words], i64)

    def through(name, nodes, words, x=(0, 1, 2), **more):
        """`nodes` make the texts t of the texts n."""
        write(name, [*names, *nodes, node("LabelEncoder", ["t"], ["y"], **tell)], {"x": np.array(x, i64)}, {"y": numbers(words), **more})

    lower = node("StringNormalizer", ["n"], ["l"], case_change_action="LOWER", is_case_sensitive=1)
    through("string_normalizer_to_upper_case", [node("StringNormalizer", ["n"], ["t"], case_change_action="UPPER", is_case_sensitive=1)],
            [each.upper() for each in texts])
    through("string_normalizer_without_stopwords",
            [node("StringNormalizer", ["n"], ["t"], case_change_action="UPPER", is_case_sensitive=0, stopwords=["Der Ball", "EIN ärger"])],
            ["DER ROTE BALL"])
    end = node("Constant", [], ["end"], value_string="!")
    through("string_concat", [end, node("StringConcat", ["n", "end"], ["t"])], [each + "!" for each in texts])
    parts = [each.lower().split() for each in texts]
    through("string_split", [lower, node("StringSplit", ["l"], ["t", "count"])],
            [row + [""] * (3 - len(row)) for row in parts], count=np.array([3, 2, 2], i64))
    by_words = {"domain": MS, "pad_value": "#", "mincharnum": 1, "separators": [" "]}
    through("tokenizer_of_words", [lower, node("Tokenizer", ["l"], ["t"], mark=0, **by_words)], [row + ["#"] * (3 - len(row)) for row in parts])
    through("tokenizer_with_marks", [lower, node("Tokenizer", ["l"], ["t"], mark=1, **by_words)],
            [["\x02", *row, "\x03"] + ["#"] * (3 - len(row)) for row in parts])
    letters = {"domain": MS, "pad_value": "#", "mark": 0, "mincharnum": 1, "tokenexp": "[der]"}
    through("tokenizer_by_expression", [lower, node("Tokenizer", ["l"], ["t"], **letters)],
            [list(each) + ["#"] * (5 - len(each)) for each in ("derre", "der", "erer")])
    upper = graph([], ["u"], [node("StringNormalizer", ["n"], ["u"], case_change_action="UPPER", is_case_sensitive=1)])
    same = graph([], ["s"], [node("Identity", ["n"], ["s"])])
    both = {"domain": ML, "keys_strings": [*texts, *(each.upper() for each in texts)], "values_int64s": [0, 1, 2, 10, 11, 12]}
    for flag in (True, False):
        write(f"if_of_texts_{str(flag).lower()}",
              [*names, node("If", ["flag"], ["t"], then_branch=upper, else_branch=same), node("LabelEncoder", ["t"], ["y"], **both)],
              {"flag": np.array(flag), "x": np.array([0, 1, 2], i64)}, {"y": np.array([10, 11, 12] if flag else [0, 1, 2], i64)})
    longer = graph([("i", "int64", []), ("c", "bool", []), ("t", "int64", [None])], ["c_out", "longer", "seen"],
                   [node("StringConcat", ["t", "end"], ["longer"]), node("Identity", ["longer"], ["seen"]), node("Identity", ["c"], ["c_out"])])
    marks = {"domain": ML, "keys_strings": ["!", "!!", "!!!"], "values_int64s": [1, 2, 3]}
    write("loop_of_texts", [end, node("Constant", [], ["start"], value_strings=["", "!"]), node("Loop", ["trips", "", "start"], ["last", "all"], body=longer),
                            node("LabelEncoder", ["last"], ["y"], **marks), node("LabelEncoder", ["all"], ["z"], **marks)],
          {"trips": np.array(2, i64)}, {"y": np.array([2, 3], i64), "z": np.array([[1, 2], [2, 3]], i64)})
    write("regex_full_match", [*names, node("RegexFullMatch", ["n"], ["y"], pattern="(?i)der .*ball")], {"x": np.array([2, 1, 0], i64)},
          {"y": np.array([False, True, True])})
    write("unique_of_texts", [*names, node("Unique", ["n"], ["u", "first", "where", "count"]),
                              node("LabelEncoder", ["u"], ["y"], ML, keys_strings=texts, values_int64s=[0, 1, 2])],
          {"x": np.array([2, 0, 2, 1, 0], i64)},
          {"y": np.array([0, 1, 2], i64), "first": np.array([1, 3, 0], i64), "where": np.array([2, 0, 2, 1, 0], i64),
           "count": np.array([2, 1, 2], i64)})
    write("cast_through_texts", [node("Cast", ["x"], ["t"], to=8), node("Constant", [], ["e"], value_string="e1"),
                                 node("StringConcat", ["t", "e"], ["u"]), node("Cast", ["u"], ["y"], to=1)],
          {"x": f([1.5, -0.25, 1024])}, {"y": f([15, -2.5, 10240])})
    pool = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0, "ngram_counts": [0, 3], "ngram_indexes": [0, 1, 2, 3],
            "pool_strings": ["ball", "der", "ein", "der", "ball"]}
    write("texts_to_a_vector_of_counts", [*names, lower, node("Tokenizer", ["l"], ["t"], mark=0, **by_words),
                                          node("TfIdfVectorizer", ["t"], ["y"], **pool)],
          {"x": np.array([0, 1, 2], i64)}, {"y": f([[1, 1, 0, 0], [1, 1, 0, 1], [0, 0, 1, 0]])})


def rows_of_other_beams():
    """Two samples of two beams; what a beam has before the new token comes from the rows that it went through."""
    b, w, h, d, room, past = 4, 2, 2, 4, 6, 3
    token, key, value = rand(b, 1, h * d), rand(b, 1, h * d), rand(b, 1, h * d)
    keys, values = rand(b, h, room, d), rand(b, h, room, d)
    rows = np.array([[0, 1, 0, 1, 0, 0], [1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [1, 0, 1, 0, 0, 0]], np.int32)

    def heads_of(x):
        return x.reshape(b, 1, h, d).transpose(0, 2, 1, 3)

    k, v = keys.copy(), values.copy()
    k[:, :, past:past + 1], v[:, :, past:past + 1] = heads_of(key), heads_of(value)
    seen_k, seen_v = k.copy(), v.copy()
    for row in range(b):
        for at in range(past):
            source = row // w * w + rows[row, at]
            seen_k[row, :, at], seen_v[row, :, at] = keys[source, :, at], values[source, :, at]
    y = attend(heads_of(token), seen_k[:, :, :past + 1], seen_v[:, :, :past + 1])[0].transpose(0, 2, 1, 3).reshape(b, 1, h * d)
    case("ms_decoder_masked_attention_beams", "DecoderMaskedMultiHeadAttention",
         {"token": token, "key": key, "value": value, "mask": None, "added": None, "keys": keys, "values": values,
          "past": np.array([past], np.int32), "beams": np.array([w], np.int32), "indirection": rows.reshape(b // w, w, room)},
         {"y": y, "present_k": k, "present_v": v}, MS, num_heads=h, past_present_share_buffer=1)


def columns_of_other_blocks():
    """g_idx: blocks of columns that do not lie side by side; the last is shorter."""
    k, n, block = 40, 3, 16
    groups = rng.permutation(np.arange(k) // block).astype(np.int32)
    a = rand(2, k)
    for bits in (2, 4, 8):
        values = rng.integers(0, 1 << bits, (n, 3 * block)).astype(np.uint8)
        zeros = rng.integers(0, 1 << bits, (n, 3)).astype(np.uint8)
        scales = np.abs(rand(n, 3)) / (1 << bits)
        weights = (values[:, :k].astype(np.float32) - zeros[:, groups]) * scales[:, groups]
        case(f"ms_matmul_{bits}bits_g_idx", "MatMulNBits",
             {"a": a, "b": pack(values, bits).reshape(n, 3, -1), "scales": scales, "zeros": pack(zeros, bits), "groups": groups},
             {"y": (a @ weights.T).astype(np.float32)}, MS, constants=["b", "scales", "zeros", "groups"], K=k, N=n, bits=bits, block_size=block)


def one_row_of_blocks():
    values, scales = rng.integers(0, 16, (5, 32)).astype(np.uint8), np.abs(rand(5, 2))
    table = ((values.reshape(5, 2, 16) - np.float32(8)) * scales[:, :, None]).reshape(5, 32)
    case("ms_gather_block_quantized_one_row", "GatherBlockQuantized", {"table": pack(values, 4), "id": np.array(3, np.int64), "scales": scales},
         {"y": table[3].astype(np.float32)}, MS, constants=["table", "scales"], bits=4, block_size=16, gather_axis=0, quantize_axis=1)


def mean_variance_before_opset_9():
    x = rand(2, 3, 4, 5) + 1
    for across, axes in ((0, (0, 2, 3)), (1, (0, 1, 2, 3))):
        apart = x - x.mean(axes, keepdims=True)
        deviation = np.sqrt((apart ** 2).mean(axes, keepdims=True))
        for divides in (0, 1):
            write(f"mean_variance_normalization_opset_8_{across}_{divides}",
                  [node("MeanVarianceNormalization", ["x"], ["y"], across_channels=across, normalize_variance=divides)],
                  {"x": x}, {"y": apart / deviation if divides else apart}, opset=8)
    case("ms_mean_variance_normalization", "MeanVarianceNormalization", {"x": x}, {"y": apart / deviation}, MS, across_channels=1)


def optionals_of_a_run():
    """Which branch is taken decides whether the optional holds something."""
    x = rand(2, 3)
    given = graph([], ["a"], [node("Optional", ["x"], ["a"])])
    nothing = graph([], ["b"], [node("Optional", [], ["b"])])
    of_it = graph([], ["e"], [node("OptionalGetElement", ["o"], ["e"])])
    instead = graph([], ["n"], [node("Neg", ["x"], ["n"])])
    for flag in (True, False):
        write(f"if_of_optionals_{str(flag).lower()}",
              [node("If", ["flag"], ["o"], then_branch=given, else_branch=nothing), node("OptionalHasElement", ["o"], ["has"]),
               node("If", ["has"], ["y"], then_branch=of_it, else_branch=instead)],
              {"flag": np.array(flag), "x": x}, {"has": np.array(flag), "y": x if flag else -x})


def loops_that_change_the_rank():
    x, i64 = rand(2, 3), np.int64
    body = graph([("i", "int64", []), ("c", "bool", []), ("v", "float32", None)], ["c_out", "longer", "sum"],
                 [node("Unsqueeze", ["v", "first"], ["longer"]), node("ReduceSum", ["v"], ["sum"], keepdims=0), node("Identity", ["c"], ["c_out"])],
                 first=np.array([0], i64))
    write("loop_of_growing_rank", [node("Loop", ["n", "", "x"], ["y", "sums"], body=body)], {"n": np.array(3, i64), "x": x},
          {"y": x.reshape(1, 1, 1, 2, 3), "sums": np.full(3, x.sum(), np.float32)}, constants=["n"])


def ordered_tokens_over_other_keys():
    q, k, v = rand(2, 4, 6), rand(2, 3, 6), rand(2, 3, 6)
    hq, hk, hv = heads(q, 2), heads(k, 2), heads(v, 2)
    seen = np.where(np.tril(np.ones((4, 3), bool)), 0, -np.inf).astype(np.float32)
    case("ms_multi_head_attention_ordered_cross", "MultiHeadAttention", {"q": q, "k": k, "v": v}, {"y": flat(attend(hq, hk, hv, seen)[0])}, MS,
         num_heads=2, unidirectional=1)


def parameters_of_a_run():
    """What other operators have as attributes or constants, computed."""
    i64, x = np.int64, rand(2, 3, 4)
    for name, axis in (("first", 0), ("inner", 2), ("from_end", -1)):
        case(f"ms_expand_dims_computed_{name}", "ExpandDims", {"x": x, "axis": np.int32(axis)}, {"y": np.expand_dims(x, axis)}, MS)
    image, pads = rand(1, 1, 3, 4), np.array([1, 0, 0, 2], i64)
    weight = rand(1, 1, 3, 3)
    whole = np.zeros((7, 9), np.float32)
    for i in range(3):
        for j in range(4):
            whole[2 * i:2 * i + 3, 2 * j:2 * j + 3] += image[0, 0, i, j] * weight[0, 0]
    case("ms_conv_transpose_with_computed_pads", "ConvTransposeWithDynamicPads", {"x": image, "w": weight, "pads": pads},
         {"y": whole[None, None, 1:, :-2]}, MS, constants=["w"], kernel_shape=[3, 3], strides=[2, 2])
    x, at = rand(2, 3, 5, 6), np.array([1, 0], np.int32)
    boxes = np.array([[0.1, 0.2, 0.7, 0.93], [-0.3, 0.4, 0.6, 1.25]], np.float32)
    for name, size in (("several", (3, 4)), ("one_row", (1, 2))):
        y = np.stack([crop(x[n], box.astype(float), *size, False, 0.0) for n, box in zip(at, boxes)])
        case(f"ms_crop_and_resize_computed_{name}", "CropAndResize", {"x": x, "boxes": boxes, "at": at, "size": np.array(size, np.int32)},
             {"y": y}, MS)
    k, n, block = 40, 3, 16
    groups = rng.integers(0, 3, k).astype(np.int32)  # which fill no blocks
    values, zeros = rng.integers(0, 16, (n, 3 * block)).astype(np.uint8), rng.integers(0, 16, (n, 3)).astype(np.uint8)
    scales, a, bias = np.abs(rand(n, 3)), rand(2, k), rand(n)
    for name, constants in (("computed", ["b", "scales", "zeros"]), ("uneven", ["b", "scales", "zeros", "groups"])):
        weights = (values[:, :k].astype(np.float32) - zeros[:, groups]) * scales[:, groups]
        case(f"ms_matmul_4bits_g_idx_{name}", "MatMulNBits",
             {"a": a, "b": pack(values, 4).reshape(n, 3, -1), "scales": scales, "zeros": pack(zeros, 4), "groups": groups, "bias": bias},
             {"y": (a @ weights.T + bias).astype(np.float32)}, MS, constants=constants, K=k, N=n, bits=4, block_size=block)
    case("ms_sample_op", "SampleOp", {"x": x}, {"y": x}, MS)
    q, keys, v = rand(2, 4, 6), rand(2, 3, 6), rand(2, 3, 6)
    unseen = np.where(np.arange(3) < np.array([2, 3])[:, None], 0, -10000).astype(np.float32)[:, None, None]
    case("ms_multi_head_attention_packed_lengths", "MultiHeadAttention",
         {"q": q, "k": keys, "v": v, "bias": None, "mask": np.array([2, 3, 0, 4, 8, 0, 3, 6], np.int32)},
         {"y": flat(attend(heads(q, 2), heads(keys, 2), heads(v, 2), unseen)[0])}, MS, num_heads=2)


def words_of_letters():
    """Words end where letters are 0; a place of the convolution counts where it lies in the word, the first always."""
    f, window = np.float32, 3
    words = np.array([[5, 2, 7, 1, 0, 0], [3, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6]], np.int32)
    weights, bias, table = rand(4, 1, window, 5), rand(4), rand(8, 5)
    y = np.zeros((4, 4), f)
    for n, word in enumerate(words):
        places = max(int((word > 0).sum()), window) - window + 1
        rows = np.stack([table[word][p:p + window].reshape(-1) for p in range(places)])
        if word[0] > 0:
            y[n] = np.tanh(rows @ weights.reshape(4, -1).T + bias).max(0)
    case("ms_word_conv_embedding", "WordConvEmbedding", {"words": words, "w": weights, "b": bias, "table": table},
         {"y": y}, MS, constants=["w", "b", "table"], conv_window_size=window, embedding_size=4, char_embedding_size=5)


def main():
    HERE.mkdir(exist_ok=True)
    for old in HERE.glob("*.json"):
        old.unlink()
    for group in (activations, normalisations, products, attentions, microsoft_attentions, rotaries, decoders, convolutions,
                  linear_attentions, caches, images, deformed, bytes_between_scales, products_of_bytes, small_weights,
                  sequences, unread_outputs, control_flow, control_flow_of_float16, other_names,
                  signals, regions, packed_products, small_types, flex_attentions, computed_sizes, computed_sequences,
                  small_types_when_it_runs, recurrences_of_bytes, more_products_of_bytes, rows_of_bytes, before_onnx,
                  feature_steps, linear_models, tree_ensembles, support_vectors, before_onnx_took_them,
                  inverses, crops, masked_pools, ngrams, hashes, weights_of_four_bits, experts, masked_decoders, sparse_attentions, sinks,
                  three_places, linear_attentions_of_fewer_heads, products_of_words, more_of_microsoft, time_warping,
                  texts_between_numbers, computed_texts,
                  rows_of_other_beams, columns_of_other_blocks, one_row_of_blocks, mean_variance_before_opset_9,
                  optionals_of_a_run, loops_that_change_the_rank, ordered_tokens_over_other_keys, parameters_of_a_run,
                  words_of_letters):
        group()


main()
