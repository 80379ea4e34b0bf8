"""Sequences, optionals, control flow, and what only a run can tell."""
import math

import numpy as np

from case_makers.results import attend, crop, dequantise, flat, heads, quantise, random_bytes, rms
from case_makers.writing import MS, case, graph, node, pack, rand, rng, write


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
