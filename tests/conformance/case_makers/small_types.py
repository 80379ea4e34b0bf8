"""Types of less than a byte, and of eight bits."""
import math

import numpy as np

from case_makers.writing import FLOATS, INTS, MS, Packed, case, node, pack, rand, rng, write


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


def float_of(code, exponent_bits, mantissa_bits, bias, sign=True):
    """Finite codes only."""
    bits = exponent_bits + mantissa_bits
    exponent, mantissa = (code >> mantissa_bits) & ((1 << exponent_bits) - 1), code & ((1 << mantissa_bits) - 1)
    part = mantissa / (1 << mantissa_bits)
    value = 2.0 ** (1 - bias) * part if exponent == 0 and sign else 2.0 ** (exponent - bias) * (1 + part)
    return -value if sign and code >> bits & 1 else value


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
