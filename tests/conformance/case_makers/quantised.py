"""Bytes with scales."""
import numpy as np

from case_makers.results import attend, dequantise, flat, heads, layer_norm, quantise, random_bytes, sigmoid, visible
from case_makers.writing import MS, Packed, case, pack, rand, rng


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


def products_of_words():
    for name, a, b in (("signed", np.int16, np.int16), ("mixed", np.uint16, np.int16), ("unsigned", np.uint16, np.uint16)):
        x, y = (rng.integers(0 if t is np.uint16 else -9000, 9000, s).astype(t) for t, s in ((a, (2, 3, 4)), (b, (4, 5))))
        wide = np.uint32 if a is b is np.uint16 else np.int32
        case(f"ms_matmul_integer16_{name}", "MatMulInteger16", {"a": x, "b": y}, {"y": (x.astype(np.int64) @ y.astype(np.int64)).astype(wide)}, MS)


def padded_pools_of_bytes():
    x = random_bytes(2, 5, 6, 3)
    padded = np.pad(x, ((0, 0), (1, 0), (0, 1), (0, 0)))
    windows = np.stack([padded[:, i:i + 3:2, j:j + 5:2] for i in (0, 1, 2) for j in (0, 2)])
    case("ms_nhwc_max_pool_padded", "NhwcMaxPool", {"x": x}, {"y": windows.max(0)}, MS, kernel_shape=[3, 2], strides=[2, 2],
         dilations=[1, 2], pads=[1, 0, 0, 1])
