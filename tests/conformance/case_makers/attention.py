"""Attention, of ONNX and of com.microsoft."""
import math

import numpy as np

from case_makers.decoders import angles, rotate
from case_makers.results import attend, flat, heads, softmax, visible
from case_makers.writing import MS, case, graph, node, rand, rng, write


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


def ordered_tokens_over_other_keys():
    q, k, v = rand(2, 4, 6), rand(2, 3, 6), rand(2, 3, 6)
    hq, hk, hv = heads(q, 2), heads(k, 2), heads(v, 2)
    seen = np.where(np.tril(np.ones((4, 3), bool)), 0, -np.inf).astype(np.float32)
    case("ms_multi_head_attention_ordered_cross", "MultiHeadAttention", {"q": q, "k": k, "v": v}, {"y": flat(attend(hq, hk, hv, seen)[0])}, MS,
         num_heads=2, unidirectional=1)
