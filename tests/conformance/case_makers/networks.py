"""Activations, normalisations, products, convolutions."""
import numpy as np

from case_makers.results import gelu, gelu_tanh, layer_norm, rms, swish
from case_makers.writing import MS, case, rand


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
