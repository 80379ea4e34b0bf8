// Calls of Scatter and TensorScatter, of convolutions and quantisation, of Multinomial, ReverseSequence and trees. See draw.h.
#include "tests/native/draw.h"

namespace aoe::native {
namespace {

constexpr DataType kByteTypes[] = {DataType::kInt8, DataType::kUint8};

void set_reduction(Draw& draw, DataType type, reference::Attrs& attrs) {
  if (type != DataType::kBool && draw.chance(60))
    attrs.set("reduction", draw.one_of<std::string>({"none", "add", "mul", "max", "min"}));
}

RandomCall draw_scatter_elements(Draw& draw, const std::string& type) {
  Shape shape = draw.shape(1, 4), chosen = shape;
  const std::int64_t axis = axis_of(draw, shape);
  for (std::int64_t& each : chosen) each = draw.in(0, each);
  at_axis(shape, axis) = std::max<std::int64_t>(at_axis(shape, axis), 1);
  at_axis(chosen, axis) = draw.dim();
  RandomCall drawn{.call = {.type = type, .version = 1}};
  drawn.call.attrs.set("axis", axis);
  const DataType element = draw.type();
  if (type != "Scatter") set_reduction(draw, element, drawn.call.attrs);
  drawn.inputs = {with_ties(draw, element, shape, false),
                  indices(draw, index_type(draw), chosen, at_axis(shape, axis)),
                  with_ties(draw, element, chosen, false)};
  return drawn;
}

RandomCall draw_scatter_nd(Draw& draw) {
  const std::int64_t depth = draw.in(1, 2);
  Shape shape, chosen, updates;
  for (std::int64_t i = 0; i < depth + draw.in(0, 2); ++i) shape.push_back(draw.some());
  for (std::int64_t i = draw.in(0, 2); i > 0; --i) chosen.push_back(draw.in(0, 20));
  updates = chosen;
  updates.insert(updates.end(), shape.begin() + depth, shape.end());
  chosen.push_back(depth);
  std::int64_t least = shape[0];
  for (std::int64_t i = 0; i < depth; ++i)
    least = std::min(least, shape[static_cast<std::size_t>(i)]);
  RandomCall drawn{.call = {.type = "ScatterNdUpdate", .version = 1}};
  const DataType element = draw.type();
  set_reduction(draw, element, drawn.call.attrs);
  drawn.inputs = {with_ties(draw, element, shape, false),
                  indices(draw, DataType::kInt64, chosen, least),
                  with_ties(draw, element, updates, false)};
  return drawn;
}

RandomCall draw_tensor_scatter(Draw& draw) {
  Shape cache = {draw.in(0, 3)};
  for (std::int64_t i = draw.in(1, 3); i > 0; --i) cache.push_back(draw.in(1, 40));
  const std::int64_t axis = draw.in(1, std::ssize(cache) - 1);
  Shape update = cache;
  at_axis(update, axis) = draw.in(0, at_axis(cache, axis));
  RandomCall drawn{.call = {.type = "TensorScatter", .version = 24}};
  drawn.call.attrs.set("axis", axis);
  const bool is_circular = draw.chance(50);
  if (is_circular) drawn.call.attrs.set("mode", std::string("circular"));
  const DataType element = draw.type();
  drawn.inputs = {with_ties(draw, element, cache, false), with_ties(draw, element, update, false)};
  if (draw.chance(20)) return drawn;
  const std::int64_t room = at_axis(cache, axis), last = room - at_axis(update, axis);
  std::vector<std::int64_t> begins(static_cast<std::size_t>(cache[0]));
  for (std::int64_t& begin : begins)
    begin = is_circular ? draw.in(-room, 3 * room) : draw.in(0, last);
  drawn.inputs.push_back(ints(begins, DataType::kInt64));
  return drawn;
}

/// Shapes of x and weight, and attributes, of a convolution of one to three axes.
struct Geometry {
  Shape x, weight;
  reference::Attrs attrs;
};

Geometry draw_geometry(Draw& draw) {
  const std::int64_t rank = draw.in(1, 3), groups = draw.in(1, 2);
  const std::int64_t inputs = draw.in(1, 4);
  Geometry drawn{.x = {draw.in(0, 2), groups * inputs}, .weight = {groups * draw.in(1, 6), inputs}};
  std::vector<std::int64_t> pads, strides, dilations;
  for (std::int64_t i = 0; i < rank; ++i) {
    drawn.x.push_back(draw.in(6, rank == 2 ? 20 : 9));
    drawn.weight.push_back(draw.in(1, 3));
    strides.push_back(draw.in(1, 3));
    dilations.push_back(draw.in(1, 2));
    pads.push_back(draw.in(0, 2));
  }
  for (std::int64_t i = 0; i < rank; ++i) pads.push_back(draw.in(0, 2));
  drawn.attrs.set("group", groups);
  drawn.attrs.set("strides", strides);
  drawn.attrs.set("dilations", dilations);
  drawn.attrs.set("pads", pads);
  return drawn;
}

/// In float32.
RandomCall draw_depthwise(Draw& draw) {
  Geometry drawn = draw_geometry(draw);
  const std::int64_t channels = draw.in(1, 9);
  drawn.attrs.set("group", channels);
  drawn.x[1] = drawn.weight[0] = channels;
  drawn.weight[1] = 1;
  if (draw.chance(30)) drawn.weight.back() = 5;
  drawn.x.back() += 8;
  if (draw.chance(30) && drawn.x.size() > 3) {  // of many rows (depthwise.cpp)
    drawn.weight[drawn.weight.size() - 2] = draw.in(5, 13);
    drawn.x[drawn.x.size() - 2] += 13;
    drawn.x.back() += draw.in(0, 30);
    for (const char* name : {"strides", "dilations"}) {
      std::vector<std::int64_t> all(drawn.x.size() - 2, 1);
      all.back() = draw.in(1, 2);
      drawn.attrs.set(name, all);
    }
    if (draw.chance(15)) {  // the window is the plane
      const auto axes = static_cast<std::size_t>(drawn.x.size() - 2);
      drawn.x[1] = drawn.weight[0] = draw.in(1, 40);
      drawn.attrs.set("group", drawn.x[1]);
      std::copy(drawn.x.begin() + 2, drawn.x.end(), drawn.weight.begin() + 2);
      drawn.attrs.set("dilations", std::vector<std::int64_t>(axes, 1));
      drawn.attrs.set("pads", std::vector<std::int64_t>(2 * axes, 0));
    }
  }
  RandomCall call{.call = {.type = "Conv2D", .version = 1, .attrs = drawn.attrs},
                  .tolerance = 1e-5};
  call.inputs = {numbers(draw, DataType::kFloat, drawn.x),
                 numbers(draw, DataType::kFloat, drawn.weight)};
  if (draw.chance(50)) call.inputs.push_back(numbers(draw, DataType::kFloat, {drawn.x[1]}));
  return call;
}

/// A window of one place, whose rows are many enough to be packed for.
Geometry draw_pointwise(Draw& draw) {
  const std::int64_t inputs = draw.in(1, 70);
  Geometry drawn{.x = {draw.in(0, 2), inputs}, .weight = {draw.in(12, 40), inputs}};
  for (std::int64_t i = draw.in(1, 3); i > 0; --i) {
    drawn.x.push_back(draw.in(1, 9));
    drawn.weight.push_back(1);
  }
  return drawn;
}

/// A window as wide as the image.
Geometry draw_wide_window(Draw& draw) {
  const std::int64_t inputs = draw.in(1, 3), width = draw.in(16, 40), height = draw.in(1, 4);
  Geometry drawn{.x = {draw.in(0, 2), inputs, draw.in(height, 60), width},
                 .weight = {draw.in(1, 40), inputs, height, width}};
  drawn.attrs.set("strides", std::vector<std::int64_t>{draw.in(1, 3), 1});
  if (draw.chance(20)) drawn.attrs.set("pads", std::vector<std::int64_t>{draw.in(0, 2), 0, 1, 0});
  return drawn;
}

/// So many output channels of a small image that threads share them.
Geometry draw_channels(Draw& draw) {
  Geometry drawn = draw_geometry(draw);
  drawn.weight[0] *= draw.in(8, 12);
  return drawn;
}

/// Of as many channels and places that tiles pay (winograd_convolution.h).
Geometry draw_tiled(Draw& draw) {
  const std::int64_t groups = draw.in(1, 2), inputs = draw.in(40, 80);
  Geometry drawn{.x = {draw.in(0, 2), groups * inputs, draw.in(23, 30), draw.in(23, 40)},
                 .weight = {groups * draw.in(40, 80), inputs, 3, 3}};
  drawn.attrs.set("group", groups);
  if (draw.chance(40)) {  // several images of few tiles
    const std::int64_t channels = draw.in(70, 90);
    drawn.x = {draw.in(6, 9), groups * channels, draw.in(5, 9), draw.in(5, 9)};
    drawn.weight = {groups * draw.in(70, 90), channels, 3, 3};
  }
  std::vector<std::int64_t> pads;
  for (int i = 0; i < 4; ++i) pads.push_back(draw.in(0, 2));
  drawn.attrs.set("pads", pads);
  return drawn;
}

/// Of so many outputs and such wide rows that columns are laid out (unfolded_convolution.h), more of them than a thread takes at once.
Geometry draw_unfolded(Draw& draw) {
  const std::int64_t groups = draw.in(1, 2), inputs = draw.in(1, 60);
  Geometry drawn{.x = {draw.in(0, 2), groups * inputs},
                 .weight = {groups * draw.in(24, 90), inputs}};
  const std::int64_t rank = draw.in(1, 2), taps = draw.in(1, 3), dilation = draw.in(3, 9);
  std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * rank));
  for (std::int64_t& pad : pads) pad = draw.in(3, 9);
  for (std::int64_t i = 0; i < rank; ++i) {
    drawn.x.push_back(draw.in(18, 25));
    drawn.weight.push_back(taps);
  }
  drawn.attrs.set("group", groups);
  drawn.attrs.set(taps == 1 ? "strides" : "dilations",
                  std::vector<std::int64_t>(static_cast<std::size_t>(rank), dilation / 2));
  if (taps > 1) drawn.attrs.set("pads", pads);
  return drawn;
}

RandomCall draw_convolution_of(Draw& draw, DataType type) {
  const bool is_tiled = draw.chance(5);
  const Geometry drawn = is_tiled          ? draw_tiled(draw)
                         : draw.chance(20) ? draw_pointwise(draw)
                         : draw.chance(20) ? draw_channels(draw)
                         : draw.chance(10) ? draw_unfolded(draw)
                         : draw.chance(20) ? draw_wide_window(draw)
                                           : draw_geometry(draw);
  const double growth = is_tiled ? 8 : 1;  // of errors, see winograd_convolution.h
  RandomCall call{.call = {.type = "Conv2D", .version = 1, .attrs = drawn.attrs},
                  .tolerance = type == DataType::kFloat ? growth * 1e-5 : 1e-14};
  call.inputs = {numbers(draw, type, drawn.x), numbers(draw, type, drawn.weight)};
  if (draw.chance(50)) call.inputs.push_back(numbers(draw, type, {drawn.weight[0]}));
  return call;
}

RandomCall draw_convolution(Draw& draw) {
  if (draw.chance(40)) return draw_depthwise(draw);
  return draw_convolution_of(draw, draw.one_of({DataType::kFloat, DataType::kDouble}));
}

/// Depthwise ones among them, wide images, and padding that is wider than the window.
Geometry draw_byte_geometry(Draw& draw) {
  Geometry drawn = draw_geometry(draw);
  if (draw.chance(30)) drawn.x.back() += draw.in(0, 70);
  if (draw.chance(15)) {
    auto pads = drawn.attrs.get_ints("pads", {});
    for (std::int64_t& pad : pads) pad = draw.in(0, 5);
    drawn.attrs.set("pads", pads);
  }
  if (draw.chance(60)) return drawn;
  const std::int64_t groups = draw.in(2, 9);
  drawn.attrs.set("group", groups);
  drawn.x[1] = groups;
  drawn.weight[0] = groups * draw.in(1, 2);
  drawn.weight[1] = 1;
  if (draw.chance(30)) drawn.weight.back() = draw.in(4, 6), drawn.x.back() += 8;
  return drawn;
}

RandomCall draw_conv_integer(Draw& draw) {
  const Geometry drawn = draw_byte_geometry(draw);
  RandomCall call{.call = {.type = "ConvInteger", .version = 10, .attrs = drawn.attrs}};
  const DataType x = kByteTypes[draw.in(0, 1)], weight = kByteTypes[draw.in(0, 1)];
  call.inputs = {numbers(draw, x, drawn.x, -128, 255),
                 numbers(draw, weight, drawn.weight, -128, 255)};
  if (draw.chance(60)) call.inputs.push_back(zero_point(draw, x));
  if (call.inputs.size() == 3 && draw.chance(60)) {
    const Shape zeros = draw.chance(50) ? Shape{drawn.weight[0]} : Shape{};
    call.inputs.push_back(numbers(draw, weight, zeros, 0, 100));
  }
  return call;
}

/// As ConvInteger, with real results: bias, zero points and multipliers of its own.
RandomCall draw_quant_conv(Draw& draw) {
  RandomCall drawn = draw_conv_integer(draw);
  const std::vector<ConstantPtr> given = drawn.inputs;
  const auto zero = [&](std::size_t i) { return i < given.size() ? given[i] : nullptr; };
  const std::int64_t channels = given[1]->desc().shape[0];
  const Shape multipliers = draw.chance(50) ? Shape{channels} : Shape{1};
  drawn.call = {.type = "QuantConv2D", .attrs = drawn.call.attrs};
  drawn.inputs = {
      given[0],
      given[1],
      draw.chance(50) ? numbers(draw, DataType::kInt32, {channels}, -9000, 9000) : nullptr,
      zero(2),
      zero(3),
      numbers(draw, DataType::kFloat, multipliers, 0.001, 0.1)};
  return drawn;
}

/// As that or NhwcQuantConv2D, with an activation or none and Quantize behind it.
RandomCall draw_byte_chain(Draw& draw) {
  RandomCall whole = draw.chance(40) ? draw_byte_image(draw) : draw_quant_conv(draw);
  std::vector<ConstantPtr> given = whole.inputs;
  const auto read = [&](ConstantPtr value) {
    given.push_back(std::move(value));
    return static_cast<int>(given.size()) - 1;
  };
  constexpr int kSums = 100, kActivated = 101, kResult = 102;
  std::vector<reference::NamedStep> steps = {{whole.call, {0, 1, 2, 3, 4, 5}, kSums}};
  int last = kSums;
  const std::string activation = draw.one_of<std::string>({"", "Relu", "ClipByValue"});
  if (!activation.empty()) {
    reference::NamedStep step = {{.type = activation, .version = 13}, {kSums}, kActivated};
    if (activation == "ClipByValue")
      for (int bound = 0; bound < 2; ++bound)
        step.operands.push_back(read(scalar(draw.real(-100, 100), DataType::kFloat)));
    steps.push_back(step);
    last = kActivated;
  }
  const float scale = draw.chance(70) ? 1 : static_cast<float>(draw.real(0.01, 2));
  const int scales = read(scalar(scale, DataType::kFloat)),
            zero = read(zero_point(draw, kByteTypes[draw.in(0, 1)]));
  steps.push_back({{.type = "Quantize", .version = 13}, {last, scales, zero}, kResult});
  std::vector<int> reads;
  whole.call = reference::fused_call(steps, true, reads);
  whole.inputs.clear();
  for (const int name : reads) whole.inputs.push_back(given[static_cast<std::size_t>(name)]);
  return whole;
}

/// Of so many channels and places that tiles pay (tiled_channels.h).
RandomCall draw_nhwc_tiles(Draw& draw) {
  const std::int64_t in = draw.chance(10) ? draw.in(257, 290) : draw.in(16, 70),
                     out = draw.in(16, 100);
  reference::Attrs attrs;
  std::vector<std::int64_t> pads;
  for (int i = 0; i < 4; ++i) pads.push_back(draw.in(0, 2));
  attrs.set("pads", pads);
  RandomCall call{.call = {.type = "NhwcConv2D", .attrs = attrs}, .tolerance = 8e-5};
  call.inputs = {
      numbers(draw, DataType::kFloat, {draw.in(0, 3), draw.in(5, 30), draw.in(5, 30), in}),
      numbers(draw, DataType::kFloat, {out, in, 3, 3})};
  if (draw.chance(50)) call.inputs.push_back(numbers(draw, DataType::kFloat, {out}));
  return call;
}

/// Images whose channels come last; the first of a network from planes.
RandomCall draw_nhwc(Draw& draw) {
  if (draw.chance(10)) return draw_nhwc_tiles(draw);
  const bool is_depthwise = draw.chance(60);
  const std::int64_t in = draw.chance(30) ? draw.in(16, 90) : draw.in(1, 20),
                     out = is_depthwise ? in : draw.in(1, 40);
  reference::Attrs attrs;
  attrs.set("group", is_depthwise ? in : 1);
  attrs.set("strides", std::vector<std::int64_t>{draw.in(1, 3), draw.in(1, 3)});
  if (draw.chance(20))
    attrs.set("dilations", std::vector<std::int64_t>{draw.in(1, 2), draw.in(1, 3)});
  attrs.set("pads",
            std::vector<std::int64_t>{draw.in(0, 3), draw.in(0, 3), draw.in(0, 3), draw.in(0, 3)});
  const Shape weight = {out, is_depthwise ? 1 : in, draw.in(1, 4), draw.in(1, 7)};
  const std::int64_t images = draw.in(0, 2), height = draw.in(7, 12),
                     width = !attrs.has("dilations") && draw.chance(30) ? draw.in(7, 10)
                                                                        : draw.in(19, 30);
  const bool reads_planes = !is_depthwise && draw.chance(40);
  if (reads_planes) attrs.set("reads_planes", std::int64_t{1});
  RandomCall call{.call = {.type = "NhwcConv2D", .attrs = attrs}, .tolerance = 1e-5};
  call.inputs = {
      numbers(draw, DataType::kFloat,
              reads_planes ? Shape{images, in, height, width} : Shape{images, height, width, in}),
      numbers(draw, DataType::kFloat, weight)};
  if (draw.chance(50)) call.inputs.push_back(numbers(draw, DataType::kFloat, {out}));
  return call;
}

RandomCall draw_nhwc_pool(Draw& draw, const std::string& type) {
  reference::Attrs attrs;
  attrs.set("kernel_shape", std::vector<std::int64_t>{draw.in(2, 3), draw.in(2, 4)});
  attrs.set("strides", std::vector<std::int64_t>{draw.in(1, 3), draw.in(1, 3)});
  attrs.set("pads",
            std::vector<std::int64_t>{draw.in(0, 1), draw.in(0, 1), draw.in(0, 1), draw.in(0, 1)});
  attrs.set("ceil_mode", draw.in(0, 1));
  if (type == "NhwcAvgPoolV2") attrs.set("count_include_pad", draw.in(0, 1));
  RandomCall call{.call = {.type = type, .attrs = attrs}, .tolerance = 1e-6};
  const DataType x = type == "NhwcAvgPoolV2"
                         ? DataType::kFloat
                         : draw.one_of({DataType::kFloat, DataType::kInt8, DataType::kUint8});
  call.inputs = {with_ties(draw, x, {draw.in(0, 2), draw.in(3, 9), draw.in(4, 9), draw.in(1, 40)})};
  return call;
}

/// A convolution with its activation, or of bytes that become bytes.
RandomCall draw_fused(Draw& draw) {
  if (draw.chance(50)) return draw_byte_chain(draw);
  RandomCall whole = draw.chance(30)   ? draw_nhwc(draw)
                     : draw.chance(40) ? draw_depthwise(draw)
                                       : draw_convolution_of(draw, DataType::kFloat);
  std::vector<ConstantPtr> given = whole.inputs;
  const auto read = [&](ConstantPtr value) {
    given.push_back(std::move(value));
    return static_cast<int>(given.size()) - 1;
  };
  constexpr int kSums = 100, kResult = 101, kSigmoid = 102;
  const auto fused = [&](const std::vector<reference::NamedStep>& steps) {
    std::vector<int> reads;
    whole.call = reference::fused_call(steps, true, reads);
    whole.inputs.clear();
    for (const int name : reads) whole.inputs.push_back(given[static_cast<std::size_t>(name)]);
    return whole;
  };
  std::vector<int> operands;
  for (std::size_t i = 0; i < whole.inputs.size(); ++i) operands.push_back(static_cast<int>(i));
  std::vector<reference::NamedStep> steps = {{whole.call, operands, kSums}};
  const bool has_curve = whole.call.type == "NhwcConv2D" && draw.chance(40);
  if (has_curve && draw.chance(50)) {
    steps.push_back({{.type = "Sigmoid", .version = 13}, {kSums}, kSigmoid});
    steps.push_back({{.type = "Mul", .version = 14}, {kSums, kSigmoid}, kResult});
    if (draw.chance(50)) std::swap(steps.back().operands[0], steps.back().operands[1]);
    return fused(steps);
  }
  if (has_curve) {
    steps.push_back({{.type = "HardSwish", .version = 14}, {kSums}, kResult});
    return fused(steps);
  }
  reference::NamedStep activation = {
      {.type = draw.one_of<std::string>({"Relu", "LeakyRelu", "ClipByValue"}), .version = 13},
      {kSums},
      kResult};
  if (activation.call.type == "LeakyRelu")
    activation.call.attrs.set("alpha", static_cast<float>(draw.real(-1, 1)));
  if (activation.call.type == "ClipByValue") {
    whole.tolerance *= 100;  // its bounds are that much less than sums
    activation.operands.push_back(read(scalar(draw.real(-5, 1), DataType::kFloat)));
    activation.operands.push_back(read(scalar(draw.real(-1, 5), DataType::kFloat)));
  }
  steps.push_back(activation);
  return fused(steps);
}

/// The shape of scales along an axis, or of blocks of it.
Shape draw_scales(Draw& draw, const Shape& x, reference::Attrs& attrs) {
  const std::int64_t axis = axis_of(draw, x);
  attrs.set("axis", axis);
  Shape scales = x;
  std::int64_t& along = at_axis(scales, axis);
  if (x.size() == 1 || draw.chance(60)) return {along};  // of one axis alone there are no blocks
  const std::int64_t block = draw.in(1, 5);
  attrs.set("block_size", block);
  along = (along + block - 1) / block;
  return scales;
}

RandomCall draw_quantize(Draw& draw, const std::string& type) {
  RandomCall drawn{.call = {.type = type, .version = 10}};
  Shape x = draw.shape(1, 4);
  if (draw.chance(10)) x = {3, draw.in(3000, 5000)};
  const Shape scales = draw.chance(20) ? Shape{} : draw_scales(draw, x, drawn.call.attrs);
  const bool is_dequantize = type == "Dequantize";
  DataType integer =
      draw.one_of({DataType::kInt8, DataType::kUint8, DataType::kInt16, DataType::kUint16});
  if (is_dequantize && draw.chance(20)) integer = DataType::kInt32;
  const auto scale = numbers(draw, DataType::kFloat, scales, 0.01, 2);
  if (is_dequantize)
    drawn.inputs = {numbers(draw, integer, x, -40'000, 70'000), scale};
  else
    drawn.inputs = {with_ties(draw, DataType::kFloat, x), scale};
  // Without a zero point a quantised number is a uint8.
  if (draw.chance(70))
    drawn.inputs.push_back(numbers(draw, integer, draw.chance(20) ? Shape{} : scales, -20, 200));
  return drawn;
}

RandomCall draw_multinomial(Draw& draw) {
  RandomCall drawn{.call = {.type = "Multinomial", .version = 7}};
  drawn.call.attrs.set("seed", static_cast<float>(draw.real(0, 100)));
  drawn.call.attrs.set("sample_size", draw.in(1, 50));
  if (draw.chance(50)) drawn.call.attrs.set("dtype", draw.one_of<std::int64_t>({6, 7}));
  drawn.inputs = {numbers(draw, DataType::kFloat, {draw.dim(), draw.some()}, -5, 5)};
  return drawn;
}

RandomCall draw_reverse_sequence(Draw& draw) {
  const bool is_time_first = draw.chance(50);
  Shape shape = draw.shape(2, 4);
  shape[0] = std::max<std::int64_t>(shape[0], 1), shape[1] = std::max<std::int64_t>(shape[1], 1);
  RandomCall drawn{.call = {.type = "ReverseSequence", .version = 10}};
  drawn.call.attrs.set("time_axis", std::int64_t{is_time_first ? 0 : 1});
  drawn.call.attrs.set("batch_axis", std::int64_t{is_time_first ? 1 : 0});
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(shape[is_time_first ? 1 : 0]));
  for (std::int64_t& length : lengths) length = draw.in(0, shape[is_time_first ? 0 : 1]);
  drawn.inputs = {numbers(draw, draw.type(), shape), ints(lengths)};
  return drawn;
}

/// A condition may be shorter than what it chooses from.
RandomCall draw_compress(Draw& draw) {
  const Shape shape = draw.shape(1, 4);
  RandomCall drawn{.call = {.type = "Compress", .version = 11}};
  std::int64_t length = element_count(shape);
  if (draw.chance(60)) {
    const std::int64_t axis = axis_of(draw, shape);
    drawn.call.attrs.set("axis", axis);
    length = shape[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis)];
  }
  drawn.inputs = {
      numbers(draw, draw.type(), shape),
      numbers(draw, DataType::kBool, {draw.chance(70) ? length : draw.in(0, length)}, 0, 2)};
  return drawn;
}

RandomCall draw_range(Draw& draw) {
  const DataType type = draw.numeric();
  const bool is_falling = draw.chance(30) && type != DataType::kUint8;
  const double from = static_cast<double>(draw.in(0, 20)), step = draw.chance(50) ? 1 : 3;
  const double to = is_falling ? from - static_cast<double>(draw.in(0, 20))
                               : from + static_cast<double>(draw.in(-2, 60));
  return {.call = {.type = "Range", .version = 11},
          .inputs = {scalar(from, type), scalar(std::max(to, 0.0), type),
                     scalar(is_falling && from >= to ? -step : step, type)}};
}

/// Of floating point, with what logarithms do not take.
RandomCall draw_real_pow(Draw& draw) {
  const DataType type = draw.one_of({DataType::kFloat, DataType::kDouble});
  const Shape shape = draw.shape(0, 3);
  RandomCall drawn{.call = {.type = "Pow"}, .tolerance = 1e-6};
  drawn.inputs = {
      draw.chance(30) ? with_ties(draw, type, shape) : numbers(draw, type, shape, 0, 9),
      draw.chance(30) ? with_ties(draw, type, shape) : numbers(draw, draw.numeric(), shape, -5, 5)};
  return drawn;
}

RandomCall draw_pow(Draw& draw) {
  if (draw.chance(40)) return draw_real_pow(draw);
  const DataType type =
      draw.one_of({DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64,
                   DataType::kUint8, DataType::kUint32, DataType::kUint64});
  const DataType exponent = draw.chance(50) ? type : draw.numeric();
  Shape shape = draw.shape(0, 4), stretched = shape;
  for (std::int64_t& each : stretched)
    if (draw.chance(20)) each = 1;
  if (draw.chance(10)) stretched = {};
  RandomCall drawn{.call = {.type = "Pow"}};
  drawn.inputs = {numbers(draw, type, shape, -9, 9),
                  numbers(draw, exponent, stretched, draw.chance(50) ? -2 : 0, 40)};
  if (draw.chance(30)) std::swap(drawn.inputs[0], drawn.inputs[1]);
  if (!is_integer(drawn.inputs[0]->desc().dtype)) std::swap(drawn.inputs[0], drawn.inputs[1]);
  return drawn;
}

/// Random trees in the order that the operator wants: branches lead to later nodes, or to leaves.
RandomCall draw_trees(Draw& draw) {
  const DataType type = draw.one_of({DataType::kFloat, DataType::kDouble});
  const std::int64_t features = draw.in(1, 6), trees = draw.in(0, 7), targets = draw.in(1, 4);
  std::vector<std::int64_t> roots, asked, branches, leaves = {0}, voted;
  const auto leaf = [&] {
    for (std::int64_t v = draw.in(0, 3); v > 0; --v) voted.push_back(draw.in(0, targets - 1));
    leaves.push_back(std::ssize(voted));
    return ~(std::ssize(leaves) - 2);
  };
  for (std::int64_t t = 0; t < trees; ++t) {
    const std::int64_t first = std::ssize(asked), count = draw.in(0, 9);
    roots.push_back(count == 0 ? leaf() : first);
    std::int64_t waiting = 1;  // nodes that no branch leads to yet, in order
    for (std::int64_t n = 0; n < count; ++n) {
      asked.push_back(draw.in(0, features - 1));
      for (int side = 0; side < 2; ++side) {
        const bool has_node = waiting < count && (side == 1 || draw.chance(60));
        branches.push_back(has_node ? first + waiting++ : leaf());
      }
    }
  }
  const auto nodes = std::ssize(asked);
  RandomCall drawn{.call = {.type = "TreeEnsemble"}, .tolerance = 1e-5};
  reference::Attrs& attrs = drawn.call.attrs;
  attrs.set("features", features);
  attrs.set("targets", targets);
  attrs.set("aggregate", draw.one_of<std::string>({"SUM", "AVERAGE", "MIN", "MAX"}));
  std::vector<std::int64_t> flags;
  for (std::int64_t n = 0; n < nodes; ++n) flags.push_back(draw.in(0, 3));
  const auto few = [&](Shape shape) {
    return made(type, std::move(shape),
                [&] { return draw.chance(5) ? kNan : static_cast<double>(draw.in(-3, 3)) / 2; });
  };
  const auto words = [](const std::vector<std::int64_t>& values) {
    return ints(values, DataType::kInt32);
  };
  std::shared_ptr<Constant> pairs = made(DataType::kInt32, {nodes, 2}, [] { return 0; });
  std::copy(branches.begin(), branches.end(), static_cast<std::int32_t*>(pairs->mutable_data()));
  drawn.inputs = {few({draw.chance(50) ? draw.in(0, 9) : draw.in(60, 300), features}),
                  words(roots),
                  words(asked),
                  few({nodes}),
                  pairs,
                  words(leaves),
                  words(voted),
                  numbers(draw, type, {std::ssize(voted)})};
  if (draw.chance(50)) drawn.inputs.push_back(ints(flags, DataType::kUint8));
  return drawn;
}

}  // namespace

void add_more_drawers(Drawers& drawers) {
  for (const char* type : {"Scatter", "ScatterElements"})
    drawers[type] = [type](Draw& draw) { return draw_scatter_elements(draw, type); };
  drawers["ScatterNdUpdate"] = draw_scatter_nd;
  drawers["TensorScatter"] = draw_tensor_scatter;
  drawers["Conv2D"] = draw_convolution;
  drawers["NhwcConv2D"] = draw_nhwc;
  for (const char* type : {"NhwcMaxPoolV3", "NhwcAvgPoolV2"})
    drawers[type] = [type](Draw& draw) { return draw_nhwc_pool(draw, type); };
  drawers[reference::kFused] = draw_fused;
  drawers["ConvInteger"] = draw_conv_integer;
  drawers["QuantConv2D"] = draw_quant_conv;
  for (const char* type : {"Quantize", "Dequantize"})
    drawers[type] = [type](Draw& draw) { return draw_quantize(draw, type); };
  drawers["Compress"] = draw_compress;
  drawers["Range"] = draw_range;
  drawers["Pow"] = draw_pow;
  drawers["Multinomial"] = draw_multinomial;
  drawers["ReverseSequence"] = draw_reverse_sequence;
  drawers["TreeEnsemble"] = draw_trees;
}

}  // namespace aoe::native
