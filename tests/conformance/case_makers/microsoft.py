"""Other operators of com.microsoft."""
import numpy as np

from case_makers.classical import softmax_of
from case_makers.results import gelu_tanh, rms, swish
from case_makers.writing import MS, case, pack, rand, rng


def inverses():
    for name, shape in (("one", (3, 3)), ("batch", (2, 2, 5, 5))):
        x = rand(*shape) + 2 * np.eye(shape[-1], dtype=np.float32)
        case(f"ms_inverse_{name}", "Inverse", {"x": x}, {"y": np.linalg.inv(x.astype(np.float64)).astype(np.float32)}, MS)
    x = (rand(3, 3) + 2 * np.eye(3)).astype(np.float16)
    case("ms_inverse_float16", "Inverse", {"x": x}, {"y": np.linalg.inv(x.astype(np.float64)).astype(np.float16)}, MS)


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
