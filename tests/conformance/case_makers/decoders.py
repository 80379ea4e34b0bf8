"""What decoders have besides attention: rotary embedding, caches, linear attention."""
import math

import numpy as np

from case_makers.results import attend, flat, heads, swish, visible
from case_makers.writing import MS, case, rand


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
    hk, hv = heads(k, 2), heads(v, 2)  # a cache that grows: how many tokens there are, only a run can tell
    grown_k, grown_v = np.concatenate([past_k, hk], 2), np.concatenate([past_v, hv], 2)
    case("ms_group_query_attention_growing", "GroupQueryAttention",
         {"q": q, "k": k, "v": v, "past_k": past_k, "past_v": past_v, "lengths": np.array([6, 6], np.int32),
          "total": np.array([7], np.int32)},
         {"y": flat(attend(heads(q, 4), grown_k, grown_v, visible(1, 7, 6))[0]), "present_k": grown_k,
          "present_v": grown_v}, MS, num_heads=4, kv_num_heads=2)


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
