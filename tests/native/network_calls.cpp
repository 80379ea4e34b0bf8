// Random calls of what networks are made of: products, normalisations and formulas, whose kernels are for sizes that a run tells.
#include <numeric>

#include "reference/tensors/reductions.h"
#include "tests/native/draw.h"

namespace aoe::native {
namespace {

/// Of `shape`, with axes in front left out or of size 1.
Shape stretched(Draw& draw, const Shape& shape) {
  Shape part = shape;
  for (std::int64_t& dim : part)
    if (draw.chance(30)) dim = 1;
  part.erase(part.begin(), part.begin() + draw.in(0, std::ssize(part)));
  return part;
}

DataType float_type(Draw& draw) {
  return draw.one_of({DataType::kFloat, DataType::kDouble});
}

RandomCall draw_matmul(Draw& draw) {
  Shape batch = draw.chance(50) ? draw.shape(0, 2) : Shape{};
  for (std::int64_t& dim : batch) dim = std::min<std::int64_t>(dim, 5);
  const bool is_large = batch.empty() && draw.chance(30);
  const std::int64_t k = is_large ? draw.in(100, 300) : draw.in(0, 20);
  Shape a = batch, b = stretched(draw, batch);
  a.insert(a.end(), {is_large && draw.chance(70) ? draw.in(60, 200) : draw.in(0, 15), k});
  b.insert(b.end(), {k, is_large ? draw.in(1, 150) : draw.in(0, 40)});
  if (draw.chance(10)) a = {k};
  if (draw.chance(10)) b = {k};
  if (draw.chance(20) && a.size() > 2 && b.size() > 2) std::swap(a[0], b[0]), a[0] = b[0] = 1;
  const DataType type =
      draw.one_of({DataType::kFloat, DataType::kDouble, DataType::kFloat, DataType::kDouble,
                   DataType::kInt32, DataType::kUint32, DataType::kInt64, DataType::kUint64});
  return {.call = {.type = "MatMulV2"},
          .inputs = {numbers(draw, type, a), numbers(draw, type, b)},
          .tolerance = type == DataType::kFloat    ? 1e-5
                       : type == DataType::kDouble ? 1e-13
                                                   : 0};
}

/// Of the extreme bytes, in products of more rows, steps and columns than a thread takes at a time as well.
RandomCall draw_matmul_integer(Draw& draw) {
  RandomCall drawn = draw_matmul(draw);
  Shape a = drawn.inputs[0]->desc().shape, b = drawn.inputs[1]->desc().shape;
  if (draw.chance(5)) a.back() = b[b.size() == 1 ? 0 : b.size() - 2] = draw.in(750, 900);
  const DataType left = draw.one_of({DataType::kInt8, DataType::kUint8}),
                 right = draw.one_of({DataType::kInt8, DataType::kUint8});
  const auto bytes = [&](DataType type, const Shape& shape) {
    const double low = type == DataType::kInt8 ? -128 : 0;
    const bool is_extreme = draw.chance(30);
    return made(type, shape, [&draw, low, is_extreme] {
      return low + static_cast<double>(is_extreme ? 255 * draw.in(0, 1) : draw.in(0, 255));
    });
  };
  drawn = {.call = {.type = "MatMulInteger", .version = 10},
           .inputs = {bytes(left, a), bytes(right, b)}};
  if (draw.chance(70))
    drawn.inputs.push_back(
        bytes(left, draw.chance(30) && a.size() > 1 ? Shape{a[a.size() - 2]} : Shape{}));
  if (drawn.inputs.size() == 3 && draw.chance(70))
    drawn.inputs.push_back(
        bytes(right, draw.chance(30) && b.size() > 1 ? Shape{b.back()} : Shape{1}));
  return drawn;
}

/// As MatMulInteger with one zero point on the left, with real results; the right factor may lie in columns.
RandomCall draw_quant_matmul(Draw& draw) {
  const std::int64_t m = draw.dim(), k = draw.dim(), n = draw.some();
  const DataType left = draw.one_of({DataType::kInt8, DataType::kUint8}),
                 right = draw.one_of({DataType::kInt8, DataType::kUint8});
  const bool is_turned = draw.chance(50);
  RandomCall drawn{.call = {.type = "QuantMatMul"}};
  if (is_turned) drawn.call.attrs.set("transB", std::int64_t{1});
  drawn.inputs = {
      numbers(draw, left, draw.chance(70) ? Shape{m, k} : Shape{2, m, k}, -128, 255),
      numbers(draw, right, is_turned ? Shape{n, k} : Shape{k, n}, -128, 255),
      draw.chance(50) ? numbers(draw, DataType::kInt32, {n}, -9000, 9000) : nullptr,
      draw.chance(50) ? scalar(draw.real(0, 100), left) : nullptr,
      draw.chance(50) ? numbers(draw, right, draw.chance(50) ? Shape{n} : Shape{1}, 0, 100)
                      : nullptr,
      numbers(draw, DataType::kFloat, draw.chance(50) ? Shape{n} : Shape{1}, 0.001, 0.1)};
  return drawn;
}

RandomCall draw_gemm(Draw& draw) {
  const std::int64_t m = draw.dim(), n = draw.dim(), k = draw.dim();
  const DataType type = draw.one_of({DataType::kFloat, DataType::kDouble});
  RandomCall drawn{.call = {.type = "Gemm"}, .tolerance = type == DataType::kFloat ? 1e-5 : 1e-13};
  const bool transposes_a = draw.chance(50), transposes_b = draw.chance(50);
  drawn.call.attrs.set("transA", std::int64_t{transposes_a});
  drawn.call.attrs.set("transB", std::int64_t{transposes_b});
  if (draw.chance(50)) drawn.call.attrs.set("alpha", 0.5f);
  if (draw.chance(50)) drawn.call.attrs.set("beta", -2.0f);
  drawn.inputs = {numbers(draw, type, transposes_a ? Shape{k, m} : Shape{m, k}),
                  numbers(draw, type, transposes_b ? Shape{n, k} : Shape{k, n})};
  if (draw.chance(70)) drawn.inputs.push_back(numbers(draw, type, stretched(draw, {m, n})));
  return drawn;
}

/// Masked places and, seldom, NaN and infinity among the values.
RandomCall draw_softmax(Draw& draw, const std::string& type) {
  const Shape shape = draw.shape(1, 4);
  const int masked = draw.chance(40) ? 30 : 0, odd = draw.chance(10) ? 5 : 0;
  RandomCall drawn{.call = {.type = type, .version = draw.one_of({1, 13})}, .tolerance = 1e-6};
  drawn.call.attrs.set("axis", axis_of(draw, shape));
  const DataType dtype = draw.one_of({DataType::kFloat, DataType::kDouble});
  if (dtype == DataType::kDouble) drawn.tolerance = 1e-14;
  drawn.inputs = {made(dtype, shape, [&, odd, masked] {
    if (draw.chance(odd)) return draw.one_of({kNan, kInfinity});
    return draw.chance(masked) ? -kInfinity : draw.real(-100, 100);
  })};
  return drawn;
}

RandomCall draw_layer_norm(Draw& draw) {
  const Shape shape = draw.shape(1, 4);
  const std::int64_t axis = axis_of(draw, shape);
  const auto rank = std::ssize(shape);
  const Shape row(shape.begin() + (axis < 0 ? axis + rank : axis), shape.end());
  RandomCall drawn{.call = {.type = "LayerNorm", .version = 17}, .tolerance = 1e-5};
  const DataType type = float_type(draw);
  drawn.call.attrs.set("axis", axis);
  if (draw.chance(50)) drawn.call.attrs.set("epsilon", 0.01f);
  drawn.inputs = {numbers(draw, type, shape), numbers(draw, type, row)};
  if (draw.chance(70)) drawn.inputs.push_back(numbers(draw, type, row));
  drawn.outputs = static_cast<std::size_t>(draw.in(1, 3));
  return drawn;
}

RandomCall draw_linear_attention(Draw& draw) {
  const std::int64_t batch = draw.in(0, 2), tokens = draw.in(0, 9), kv = draw.in(1, 3),
                     heads = kv * draw.in(1, 2), key = draw.in(1, 20), value = draw.in(1, 40);
  const auto rule = draw.one_of<std::string>({"linear", "gated", "delta", "gated_delta"});
  const DataType type = draw.one_of({DataType::kFloat, DataType::kDouble});
  RandomCall drawn{.call = {.type = "LinearAttention", .version = 27},
                   .tolerance = type == DataType::kFloat ? 1e-5 : 1e-13};
  drawn.call.attrs.set("q_num_heads", heads);
  drawn.call.attrs.set("kv_num_heads", kv);
  drawn.call.attrs.set("update_rule", rule);
  if (draw.chance(30)) drawn.call.attrs.set("scale", 0.3f);
  const auto rows = [&](std::int64_t width, double low, double high) {
    return numbers(draw, type, {batch, tokens, width}, low, high);
  };
  drawn.inputs = {rows(heads * key, -1, 1), rows(kv * key, -0.4, 0.4), rows(kv * value, -1, 1), {}};
  if (draw.chance(50)) drawn.inputs[3] = numbers(draw, type, {batch, kv, key, value}, -1, 1);
  const bool decays = rule.starts_with("gated"), corrects = rule.ends_with("delta");
  drawn.inputs.push_back(decays ? rows(draw.chance(50) ? kv : kv * key, -1, 0) : nullptr);
  drawn.inputs.push_back(corrects ? rows(draw.chance(50) ? 1 : kv, 0, 1) : nullptr);
  drawn.outputs = 2;
  return drawn;
}

/// Square matrices, of few different numbers also such as have no inverse.
RandomCall draw_matrices(Draw& draw, const std::string& type) {
  Shape shape = draw.shape(0, 2);
  const std::int64_t n = draw.chance(10) ? draw.in(30, 80) : draw.in(0, 9);
  shape.insert(shape.end(), {n, n});
  const DataType dtype =
      draw.one_of({DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kBFloat16});
  RandomCall drawn{.call = {.type = type, .version = 11}, .tolerance = 1e-12};
  drawn.inputs = {draw.chance(20) ? with_ties(draw, dtype, shape, draw.chance(30))
                                  : numbers(draw, dtype, shape)};
  return drawn;
}

/// Of two operands that stretch to each other; long rows are several blocks.
RandomCall draw_formula(Draw& draw, const std::string& type) {
  Shape shape = draw.shape(0, 4);
  if (draw.chance(20)) shape.push_back(draw.in(200, 1500));
  const bool is_logical = type.starts_with("Logical"), is_of_bits = type.starts_with("Bitwise");
  const DataType dtype =
      is_logical   ? DataType::kBool
      : is_of_bits ? draw.one_of({DataType::kInt8, DataType::kUint8, DataType::kInt32,
                                  DataType::kInt64, DataType::kUint16})
      : type == "BitShift"
          ? draw.one_of({DataType::kUint8, DataType::kUint16, DataType::kUint32, DataType::kUint64})
          : draw.numeric();
  RandomCall drawn{.call = {.type = type}};
  if (type == "Mod")
    drawn.call.attrs.set("fmod", std::int64_t{is_floating(dtype) || draw.chance(50)});
  if (type == "BitShift")
    drawn.call.attrs.set("direction", draw.one_of<std::string>({"LEFT", "RIGHT"}));
  const bool compares = is_logical || type == "Equal" || type.starts_with("Less");
  for (const Shape& each : {shape, stretched(draw, shape)})
    drawn.inputs.push_back(compares ? with_ties(draw, dtype, each) : numbers(draw, dtype, each));
  const bool stretches_both = type != "PRelu";  // whose slope alone is stretched
  if (stretches_both && draw.chance(50)) std::swap(drawn.inputs[0], drawn.inputs[1]);
  return drawn;
}

RandomCall draw_select(Draw& draw) {
  const Shape shape = draw.shape(0, 4);
  const DataType dtype = draw.type();
  return {.call = {.type = "SelectV2"},
          .inputs = {numbers(draw, DataType::kBool, stretched(draw, shape), 0, 1),
                     numbers(draw, dtype, shape), numbers(draw, dtype, stretched(draw, shape))}};
}

/// All axes, those that bits choose, or none; as attribute or input, by the version.
RandomCall draw_reduction(Draw& draw, const std::string& type) {
  const Shape shape = draw.chance(15)   ? Shape{draw.in(200, 700), draw.in(1, 33)}
                      : draw.chance(10) ? Shape{draw.in(1, 20), draw.in(30, 3000)}
                                        : draw.shape(1, 5);
  const bool is_exact = type == "ReduceMax" || type == "ReduceMin";
  const DataType dtype =
      is_exact && draw.chance(20)
          ? draw.one_of({DataType::kInt8, DataType::kUint8, DataType::kBool})
          : draw.one_of({DataType::kFloat, DataType::kDouble, DataType::kInt32, DataType::kInt64});
  RandomCall drawn{.call = {.type = type, .version = static_cast<int>(draw.one_of({1, 18}))},
                   .tolerance = is_exact ? 0 : 2e-6};
  std::vector<std::int64_t> axes;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (draw.chance(50))
      axes.push_back(static_cast<std::int64_t>(d) - (draw.chance(50) ? std::ssize(shape) : 0));
  drawn.call.attrs.set("keepdims", draw.in(0, 1));
  drawn.call.attrs.set("noop_with_empty_axes", draw.in(0, 1));
  drawn.inputs = {is_exact ? with_ties(draw, dtype, shape) : numbers(draw, dtype, shape, 0.5, 2)};
  if (drawn.call.version >= reference::input_axes_since(type))
    drawn.inputs.push_back(ints(axes));
  else if (!axes.empty())
    drawn.call.attrs.set("axes", axes);
  return drawn;
}

RandomCall draw_global_pool(Draw& draw, const std::string& type) {
  const DataType dtype = draw.one_of({DataType::kFloat, DataType::kDouble});
  Shape shape = {draw.in(0, 3), draw.in(0, 9)};
  for (std::int64_t i = draw.in(1, 3); i > 0; --i) shape.push_back(draw.in(1, 20));
  return {.call = {.type = type}, .inputs = {numbers(draw, dtype, shape)}, .tolerance = 1e-6};
}

RandomCall draw_instance_norm(Draw& draw) {
  Shape shape = {draw.in(0, 3), draw.in(0, 9)};
  for (std::int64_t i = draw.in(0, 3); i > 0; --i) shape.push_back(draw.in(1, 20));
  const DataType type = float_type(draw);
  return {.call = {.type = "InstanceNorm"},
          .inputs = {numbers(draw, type, shape), numbers(draw, type, {shape[1]}),
                     numbers(draw, type, {shape[1]})},
          .tolerance = 1e-5};
}

RandomCall draw_group_norm(Draw& draw) {
  const std::int64_t groups = draw.in(1, 4), version = draw.one_of({18, 21});
  Shape shape = {draw.in(0, 3), groups * draw.in(1, 5)};
  for (std::int64_t i = draw.in(1, 3); i > 0; --i) shape.push_back(draw.in(1, 20));
  const Shape parameters = {version < 21 ? groups : shape[1]};
  RandomCall drawn{.call = {.type = "GroupNorm", .version = static_cast<int>(version)},
                   .tolerance = 1e-5};
  drawn.call.attrs.set("num_groups", groups);
  const DataType type = float_type(draw);
  for (const Shape& of : {shape, parameters, parameters})
    drawn.inputs.push_back(numbers(draw, type, of));
  return drawn;
}

/// The same elements in other shapes.
RandomCall draw_reshape(Draw& draw, const std::string& type) {
  const Shape shape = draw.shape(0, 4);
  RandomCall drawn{.call = {.type = type, .version = 13},
                   .inputs = {numbers(draw, draw.type(), shape)}};
  if (type == "Reshape")
    drawn.inputs.push_back(ints({-1, shape.empty() ? 1 : std::max<std::int64_t>(shape.back(), 1)}));
  if (type == "Squeeze" && draw.chance(50)) drawn.inputs.push_back(ints({}));
  if (type == "Unsqueeze") drawn.inputs.push_back(ints({0, -1}));
  if (type == "FlattenV2") drawn.call.attrs.set("axis", draw.in(0, std::ssize(shape)));
  return drawn;
}

RandomCall draw_arg_max(Draw& draw, const std::string& type) {
  Shape shape = draw.chance(15) ? Shape{draw.in(100, 300), draw.in(1, 33)} : draw.shape(1, 4);
  const std::int64_t axis = axis_of(draw, shape);
  at_axis(shape, axis) = std::max<std::int64_t>(at_axis(shape, axis), 1);
  RandomCall drawn{.call = {.type = type, .version = 13}};
  drawn.call.attrs.set("axis", axis);
  drawn.call.attrs.set("keepdims", draw.in(0, 1));
  drawn.call.attrs.set("select_last_index", draw.in(0, 1));
  const DataType dtype = draw.one_of({DataType::kFloat, DataType::kDouble, DataType::kInt8,
                                      DataType::kUint8, DataType::kInt32, DataType::kInt64});
  drawn.inputs = {draw.chance(50) ? with_ties(draw, dtype, shape)
                                  : numbers(draw, dtype, shape, 0, 100)};
  return drawn;
}

RandomCall draw_hardmax(Draw& draw) {
  const Shape shape = draw.shape(1, 4);
  RandomCall drawn{.call = {.type = "HardMax", .version = static_cast<int>(draw.one_of({1, 13}))}};
  drawn.call.attrs.set("axis", axis_of(draw, shape));
  drawn.inputs = {with_ties(draw, float_type(draw), shape)};
  return drawn;
}

RandomCall draw_running(Draw& draw, const std::string& type) {
  const Shape shape = draw.shape(1, 4);
  RandomCall drawn{.call = {.type = type, .version = type == "Cumprod" ? 26 : 1},
                   .tolerance = 1e-6};
  drawn.call.attrs.set("exclusive", draw.in(0, 1));
  drawn.call.attrs.set("reverse", draw.in(0, 1));
  const DataType dtype =
      draw.one_of({DataType::kFloat, DataType::kDouble, DataType::kInt32, DataType::kInt64});
  drawn.inputs = {numbers(draw, dtype, shape, type == "Cumprod" ? 0.9 : -3, 1.2),
                  scalar(static_cast<double>(axis_of(draw, shape)), index_type(draw))};
  return drawn;
}

/// Pictures, or lines of more than one part, whose few channels come first or last.
RandomCall draw_pixels(Draw& draw) {
  const bool is_last = draw.chance(50);
  const std::int64_t images = draw.in(0, 2), channels = draw.in(1, 5);
  const std::int64_t pixels = draw.chance(20) ? draw.in(4000, 9000) : draw.in(1, 100);
  const Shape shape = is_last ? Shape{images, pixels, channels} : Shape{images, channels, pixels};
  RandomCall drawn{.call = {.type = "Transpose"}, .inputs = {numbers(draw, draw.type(), shape)}};
  drawn.call.attrs.set("perm", std::vector<std::int64_t>{0, 2, 1});
  return drawn;
}

RandomCall draw_transpose(Draw& draw) {
  if (draw.chance(30)) return draw_pixels(draw);
  const Shape shape = draw.shape(0, 5);
  RandomCall drawn{.call = {.type = "Transpose"}, .inputs = {numbers(draw, draw.type(), shape)}};
  std::vector<std::int64_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 1; i < order.size(); ++i)
    std::swap(order[i], order[static_cast<std::size_t>(draw.in(0, static_cast<std::int64_t>(i)))]);
  if (draw.chance(80)) drawn.call.attrs.set("perm", order);
  return drawn;
}

RandomCall draw_blocks(Draw& draw, const std::string& type) {
  const std::int64_t b = draw.in(1, 3), channels = draw.in(1, 20), height = draw.in(1, 12),
                     width = draw.in(1, 40);
  const bool is_deep = type == "DepthToSpace";
  const Shape shape = {draw.in(0, 3), is_deep ? channels * b * b : channels,
                       is_deep ? height : height * b, is_deep ? width : width * b};
  RandomCall drawn{.call = {.type = type}, .inputs = {numbers(draw, draw.type(), shape)}};
  drawn.call.attrs.set("blocksize", b);
  if (is_deep && draw.chance(50)) drawn.call.attrs.set("mode", std::string("CRD"));
  return drawn;
}

RandomCall draw_concat(Draw& draw) {
  Shape shape = draw.shape(1, 4);
  const std::int64_t axis = axis_of(draw, shape);
  const DataType type = draw.type();
  RandomCall drawn{.call = {.type = "ConcatV2"}, .inputs = {}};
  drawn.call.attrs.set("axis", axis);
  for (std::int64_t i = draw.in(1, 4); i > 0; --i) {
    at_axis(shape, axis) = draw.dim();
    drawn.inputs.push_back(numbers(draw, type, shape));
  }
  return drawn;
}

/// Of some axes, to and fro, and beyond what there is.
RandomCall draw_slice(Draw& draw) {
  const Shape shape = draw.shape(1, 4);
  std::vector<std::int64_t> starts, ends, axes, steps;
  for (std::int64_t axis = 0; axis < std::ssize(shape); ++axis) {
    if (draw.chance(40)) continue;
    axes.push_back(draw.chance(50) ? axis : axis - std::ssize(shape));
    starts.push_back(draw.in(-12, 12));
    ends.push_back(draw.chance(20) ? draw.in(-100, 100) : draw.in(-12, 12));
    steps.push_back(draw.chance(60) ? 1 : draw.in(0, 3) - 4 * draw.in(0, 1));
    if (steps.back() == 0) steps.back() = -1;
  }
  return {.call = {.type = "Slice", .version = 10},
          .inputs = {numbers(draw, draw.type(), shape), ints(starts), ints(ends), ints(axes),
                     ints(steps)}};
}

/// Into parts of given sizes or equal ones, the last of which may be smaller.
RandomCall draw_split(Draw& draw) {
  Shape shape = draw.shape(1, 4);
  const std::int64_t axis = axis_of(draw, shape), parts = draw.in(1, 4);
  const DataType type = draw.type();
  RandomCall drawn{.call = {.type = "SplitV", .version = 13}, .inputs = {}};
  drawn.outputs = static_cast<std::size_t>(parts);
  drawn.call.attrs.set("axis", axis);
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < parts; ++i) sizes.push_back(draw.in(0, 9));
  const bool is_given = draw.chance(50), has_smaller = draw.chance(50);
  const std::int64_t each = draw.in(1, 9), less = has_smaller ? draw.in(0, each - 1) : 0;
  if (has_smaller && !is_given) drawn.call.attrs.set("num_outputs", parts);
  at_axis(shape, axis) =
      is_given ? std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) : parts * each - less;
  drawn.inputs = {numbers(draw, type, shape)};
  if (is_given) drawn.inputs.push_back(ints(sizes));
  return drawn;
}

/// Dimensions of 1 are stretched, by the other shape too, which may have more of them, or fewer.
RandomCall draw_expand(Draw& draw) {
  Shape shape = draw.shape(0, 4), wanted = shape;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (draw.chance(40)) (draw.chance(70) ? shape : wanted)[d] = 1;
  if (draw.chance(30)) shape.erase(shape.begin(), shape.begin() + draw.in(0, std::ssize(shape)));
  if (draw.chance(20))
    wanted.erase(wanted.begin(), wanted.begin() + draw.in(0, std::ssize(wanted)));
  return {.call = {.type = "Expand"}, .inputs = {numbers(draw, draw.type(), shape), ints(wanted)}};
}

}  // namespace

void add_network_drawers(Drawers& drawers) {
  drawers["MatMulV2"] = draw_matmul;
  drawers["MatMulInteger"] = draw_matmul_integer;
  drawers["QuantMatMul"] = draw_quant_matmul;
  drawers["Gemm"] = draw_gemm;
  for (const char* type : {"SoftmaxV2", "LogSoftmaxV2"})
    drawers[type] = [type](Draw& draw) { return draw_softmax(draw, type); };
  drawers["LayerNorm"] = draw_layer_norm;
  drawers["LinearAttention"] = draw_linear_attention;
  for (const char* type : {"MatrixInverse", "Det"})
    drawers[type] = [type](Draw& draw) { return draw_matrices(draw, type); };
  for (const char* type :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare",
        "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"})
    drawers[type] = [type](Draw& draw) { return draw_reduction(draw, type); };
  for (const char* type : {"Reshape", "FlattenV2", "Squeeze", "Unsqueeze"})
    drawers[type] = [type](Draw& draw) { return draw_reshape(draw, type); };
  for (const char* type : {"ArgMaxV2", "ArgMin"})
    drawers[type] = [type](Draw& draw) { return draw_arg_max(draw, type); };
  for (const char* type : {"Cumsum", "Cumprod"})
    drawers[type] = [type](Draw& draw) { return draw_running(draw, type); };
  drawers["HardMax"] = draw_hardmax;
  drawers["Transpose"] = draw_transpose;
  for (const char* type : {"DepthToSpace", "SpaceToDepth"})
    drawers[type] = [type](Draw& draw) { return draw_blocks(draw, type); };
  drawers["ConcatV2"] = draw_concat;
  drawers["Expand"] = draw_expand;
  drawers["Slice"] = draw_slice;
  drawers["SplitV"] = draw_split;
  drawers["InstanceNorm"] = draw_instance_norm;
  drawers["GroupNorm"] = draw_group_norm;
  for (const char* type : {"GlobalAveragePool", "GlobalMaxPool"})
    drawers[type] = [type](Draw& draw) { return draw_global_pool(draw, type); };
  for (const char* type :
       {"Add", "Sub", "Mul", "Div", "Maximum", "Minimum", "Less", "LessEqual", "Equal", "PRelu",
        "LogicalAnd", "LogicalOr", "BitwiseAnd", "BitwiseXor", "Mod", "BitShift"})
    drawers[type] = [type](Draw& draw) { return draw_formula(draw, type); };
  drawers["SelectV2"] = draw_select;
}

}  // namespace aoe::native
