// See random_calls.h.
#include "tests/native/random_calls.h"

#include <cmath>

#include "reference/tensors/axes.h"
#include "tests/native/draw.h"

namespace aoe::native {
namespace {

using reference::Attrs;

RandomCall draw_top_k(Draw& draw) {
  RandomCall drawn;
  Shape shape = draw.shape(1, 4);
  if (draw.chance(20)) shape = {draw.in(1, 3), draw.in(200, 5000)};
  const std::int64_t axis = axis_of(draw, shape), dim = at_axis(shape, axis);
  drawn.call = {.type = "TopKV2", .version = 10};
  drawn.call.attrs.set("axis", axis);
  if (draw.chance(50)) drawn.call.attrs.set("largest", draw.in(0, 1));
  if (draw.chance(50)) drawn.call.attrs.set("sorted", draw.in(0, 1));
  drawn.inputs = {with_ties(draw, draw.numeric(), shape),
                  ints({draw.chance(10)   ? dim
                        : draw.chance(20) ? draw.in(0, dim)
                                          : draw.in(0, std::min<std::int64_t>(dim, 40))})};
  drawn.outputs = 2;
  return drawn;
}

RandomCall draw_non_zero(Draw& draw) {
  const int zeros = static_cast<int>(draw.in(0, 100));
  return {.call = {.type = "NonZero"},
          .inputs = {made(draw.type(), draw.shape(0, 4), [&] {
            return draw.chance(zeros) ? draw.one_of({0.0, -0.0}) : draw.one_of({1.0, 2.5, kNan});
          })}};
}

RandomCall draw_unique(Draw& draw) {
  const Shape drawn_shape = draw.shape(0, 3);
  RandomCall drawn{.call = {.type = "Unique"},
                   .inputs = {draw.chance(30) ? numbers(draw, draw.type(), drawn_shape, -100, 100)
                                              : with_ties(draw, draw.type(), drawn_shape)},
                   .outputs = 4};
  if (draw.chance(50)) drawn.call.attrs.set("sorted", draw.in(0, 1));
  if (const Shape& shape = drawn.inputs[0]->desc().shape; !shape.empty() && draw.chance(50))
    drawn.call.attrs.set("axis", axis_of(draw, shape));
  return drawn;
}

/// Of the few sums of a result, as a share of the largest.
double rounding(DataType type) {
  return type == DataType::kDouble ? 1e-14 : 1e-6;
}

RandomCall draw_grid_sample(Draw& draw) {
  const std::int64_t rank = draw.chance(70) ? 2 : draw.in(1, 3), batch = draw.in(1, 3);
  Shape x = {batch, draw.in(1, 11)}, grid = {batch};
  for (std::int64_t i = 0; i < rank; ++i) {
    x.push_back(draw.in(1, 12));
    grid.push_back(rank == 2 ? draw.dim() : draw.in(1, 9));
  }
  grid.push_back(rank);
  const DataType type = draw.one_of({DataType::kFloat, DataType::kDouble});
  RandomCall drawn{.call = {.type = "GridSample", .version = 16}, .tolerance = rounding(type)};
  Attrs& attrs = drawn.call.attrs;
  attrs.set("mode",
            draw.one_of<std::string>({"nearest", "bilinear", "linear", "bicubic", "cubic"}));
  attrs.set("padding_mode", draw.one_of<std::string>({"zeros", "border", "reflection"}));
  attrs.set("align_corners", draw.in(0, 1));
  const bool is_wild = draw.chance(20);
  drawn.inputs = {numbers(draw, type, x), made(type, grid, [&]() -> double {
                    if (is_wild && draw.chance(5)) return draw.one_of({kNan, 1e30, -kInfinity});
                    return draw.chance(10) ? draw.one_of({-1.0, 0.0, 1.0}) : draw.real(-1.6, 1.6);
                  })};
  return drawn;
}

RandomCall draw_roi_align(Draw& draw) {
  const std::int64_t regions = draw.chance(10) ? 0 : draw.in(1, 9), images = draw.in(1, 3);
  const Shape x = {images, draw.chance(5) ? 0 : draw.in(1, 20), draw.in(1, 20), draw.in(1, 20)};
  const DataType type = draw.one_of({DataType::kFloat, DataType::kDouble});
  RandomCall drawn{.call = {.type = "ROIAlign", .version = draw.one_of({10, 16})},
                   .tolerance = rounding(type)};
  Attrs& attrs = drawn.call.attrs;
  attrs.set("output_height", draw.in(1, 10));
  attrs.set("output_width", draw.in(1, 10));
  if (draw.chance(70)) attrs.set("sampling_ratio", draw.in(0, 5));
  if (draw.chance(50)) attrs.set("spatial_scale", static_cast<float>(draw.real(0.1, 2)));
  if (draw.chance(40)) attrs.set("mode", std::string("max"));
  if (drawn.call.version == 16 && draw.chance(50))
    attrs.set("coordinate_transformation_mode", std::string("output_half_pixel"));
  drawn.inputs = {numbers(draw, type, x), numbers(draw, type, {regions, 4}, -4, 24),
                  made(DataType::kInt64, {regions},
                       [&] { return static_cast<double>(draw.in(0, images - 1)); })};
  return drawn;
}

RandomCall draw_max_roi_pool(Draw& draw) {
  const std::int64_t regions = draw.in(0, 9), images = draw.in(1, 3);
  std::int64_t column = 0;
  RandomCall drawn{.call = {.type = "MaxRoiPool"}};
  drawn.call.attrs.set("pooled_shape", std::vector<std::int64_t>{draw.in(1, 7), draw.in(1, 7)});
  if (draw.chance(50)) drawn.call.attrs.set("spatial_scale", static_cast<float>(draw.real(0.2, 2)));
  drawn.inputs = {
      numbers(draw, DataType::kFloat, {images, draw.in(1, 20), draw.in(1, 20), draw.in(1, 20)}),
      made(DataType::kFloat, {regions, 5}, [&] {
        return column++ % 5 == 0 ? static_cast<double>(draw.in(0, images - 1)) : draw.real(-4, 24);
      })};
  return drawn;
}

RandomCall draw_deform_conv(Draw& draw) {
  const std::int64_t rank = draw.chance(80) ? 2 : draw.in(1, 3), groups = draw.in(1, 2),
                     offset_groups = draw.in(1, 2), batch = draw.in(1, 2),
                     channels = groups * offset_groups * draw.in(1, 3),
                     outputs = groups * draw.in(1, 7);
  Shape x = {batch, channels}, weight = {outputs, channels / groups}, out;
  std::vector<std::int64_t> pads, strides, dilations;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t kernel = draw.in(1, 3), dilation = draw.in(1, 2), stride = draw.in(1, 2),
                       pad = draw.in(0, 2), size = draw.in(5, rank == 2 ? 20 : 8);
    x.push_back(size);
    weight.push_back(kernel);
    pads.push_back(pad);
    strides.push_back(stride);
    dilations.push_back(dilation);
    out.push_back((size + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1);
  }
  pads.insert(pads.end(), pads.begin(), pads.begin() + rank);
  RandomCall drawn{.call = {.type = "DeformableConv2D", .version = 19}, .tolerance = 1e-6};
  Attrs& attrs = drawn.call.attrs;
  attrs.set("pads", pads);
  attrs.set("strides", strides);
  attrs.set("dilations", dilations);
  attrs.set("group", groups);
  attrs.set("offset_group", offset_groups);
  const std::int64_t taps = element_count(Shape(weight.begin() + 2, weight.end()));
  Shape offset = {batch, offset_groups * taps * rank}, mask = {batch, offset_groups * taps};
  offset.insert(offset.end(), out.begin(), out.end());
  mask.insert(mask.end(), out.begin(), out.end());
  const DataType type = draw.one_of({DataType::kFloat, DataType::kDouble});
  drawn.inputs = {numbers(draw, type, x), numbers(draw, type, weight), numbers(draw, type, offset),
                  draw.chance(50) ? numbers(draw, type, {outputs}) : nullptr,
                  draw.chance(50) ? numbers(draw, type, mask, 0, 1) : nullptr};
  return drawn;
}

RandomCall draw_nms(Draw& draw) {
  const std::int64_t batches = draw.in(1, 2), classes = draw.in(1, 4), boxes = draw.dim() * 3;
  RandomCall drawn{.call = {.type = "NonMaxSuppressionV7", .version = 10}};
  if (draw.chance(50)) drawn.call.attrs.set("center_point_box", draw.in(0, 1));
  const bool has_ties = draw.chance(50);
  drawn.inputs = {numbers(draw, DataType::kFloat, {batches, boxes, 4}, 0, 1),
                  made(DataType::kFloat, {batches, classes, boxes}, [&] {
                    return has_ties ? 0.25 * static_cast<double>(draw.in(-1, 4)) : draw.real(0, 1);
                  })};
  if (draw.chance(95)) drawn.inputs.push_back(ints({draw.in(-1, 30)}));
  if (drawn.inputs.size() == 3 && draw.chance(80))
    drawn.inputs.push_back(scalar(draw.real(0, 1), DataType::kFloat));
  if (drawn.inputs.size() == 4 && draw.chance(60))
    drawn.inputs.push_back(scalar(draw.one_of({0.0, 0.25, 0.6}), DataType::kFloat));
  return drawn;
}

RandomCall draw_max_unpool(Draw& draw) {
  const Shape x = {draw.in(1, 2), draw.in(1, 9), draw.some(), draw.in(1, 12)};
  RandomCall drawn{.call = {.type = "MaxUnpool", .version = 9}};
  drawn.call.attrs.set("kernel_shape", std::vector<std::int64_t>{2, 2});
  drawn.call.attrs.set("strides", std::vector<std::int64_t>{2, 2});
  const std::int64_t natural = element_count(x) * 4;
  drawn.inputs = {
      numbers(draw, draw.one_of({DataType::kFloat, DataType::kFloat16, DataType::kDouble}), x),
      made(DataType::kInt64, x, [&] { return static_cast<double>(draw.in(0, natural - 1)); })};
  if (draw.chance(30))
    drawn.inputs.push_back(ints({x[0], x[1], 2 * x[2] + draw.in(0, 3), 2 * x[3] + draw.in(0, 3)}));
  return drawn;
}

RandomCall draw_col2im(Draw& draw) {
  const std::int64_t rank = draw.chance(70) ? 2 : draw.in(1, 3);
  std::vector<std::int64_t> image, block, pads, strides, dilations;
  std::int64_t columns = 1;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t kernel = draw.in(1, 3), dilation = draw.in(1, 2), stride = draw.in(1, 3),
                       pad = draw.in(0, 2), size = draw.in(5, rank == 2 ? 24 : 9);
    image.push_back(size);
    block.push_back(kernel);
    pads.push_back(pad);
    strides.push_back(stride);
    dilations.push_back(dilation);
    columns *= (size + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  }
  pads.insert(pads.end(), pads.begin(), pads.begin() + rank);
  RandomCall drawn{.call = {.type = "Col2im", .version = 18}, .tolerance = 1e-6};
  drawn.call.attrs.set("pads", pads);
  drawn.call.attrs.set("strides", strides);
  drawn.call.attrs.set("dilations", dilations);
  drawn.inputs = {numbers(draw, DataType::kFloat,
                          {draw.in(1, 3), draw.in(1, 8) * element_count(block), columns}),
                  ints(image), ints(block)};
  return drawn;
}

RandomCall draw_gather(Draw& draw) {
  Shape shape = draw.shape(1, 4);
  const std::int64_t axis = axis_of(draw, shape);
  std::int64_t& dim = at_axis(shape, axis);
  dim = std::max<std::int64_t>(dim, 1);
  RandomCall drawn{.call = {.type = "GatherV2"}};
  drawn.call.attrs.set("axis", axis);
  DataType type = draw.type();
  if (type == DataType::kFloat) type = DataType::kFloat16;
  drawn.inputs = {numbers(draw, type, shape),
                  indices(draw, index_type(draw), draw.shape(0, 2), dim)};
  return drawn;
}

RandomCall draw_gather_elements(Draw& draw) {
  Shape shape = draw.shape(1, 4), chosen = shape;
  const std::int64_t axis = axis_of(draw, shape);
  for (std::int64_t& each : chosen) each = draw.in(0, each);
  at_axis(shape, axis) = std::max<std::int64_t>(at_axis(shape, axis), 1);
  at_axis(chosen, axis) = draw.dim();
  RandomCall drawn{.call = {.type = "GatherElements"}};
  drawn.call.attrs.set("axis", axis);
  DataType type = draw.type();
  if (type == DataType::kFloat) type = DataType::kBFloat16;
  const std::int64_t dim = at_axis(shape, axis);
  drawn.inputs = {numbers(draw, type, shape), indices(draw, index_type(draw), chosen, dim)};
  return drawn;
}

RandomCall draw_gather_nd(Draw& draw) {
  const std::int64_t batch = draw.in(0, 1), depth = draw.in(1, 2);
  Shape shape, chosen;
  for (std::int64_t i = 0; i < batch + depth + draw.in(0, 2); ++i) shape.push_back(draw.in(1, 9));
  for (std::int64_t i = 0; i < batch; ++i) chosen.push_back(shape[static_cast<std::size_t>(i)]);
  for (std::int64_t i = draw.in(batch == 0 ? 0 : 1, 2); i > 0; --i) chosen.push_back(draw.dim());
  chosen.push_back(depth);
  std::int64_t least = 9;
  for (std::int64_t i = 0; i < depth; ++i)
    least = std::min(least, shape[static_cast<std::size_t>(batch + i)]);
  RandomCall drawn{.call = {.type = "GatherNd"}};
  drawn.call.attrs.set("batch_dims", batch);
  drawn.inputs = {numbers(draw, draw.type(), shape),
                  indices(draw, DataType::kInt64, chosen, least)};
  return drawn;
}

RandomCall draw_pad(Draw& draw) {
  Shape shape = draw.shape(0, 4);
  RandomCall drawn{.call = {.type = "PadV3", .version = 11}};
  const auto mode = draw.one_of<std::string>({"constant", "edge", "wrap", "reflect"});
  drawn.call.attrs.set("mode", mode);
  std::vector<std::int64_t> pads(2 * shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (mode != "constant") shape[d] = std::max<std::int64_t>(shape[d], 1);
    const std::int64_t most = mode == "reflect" ? shape[d] - 1 : 5;
    pads[d] = draw.in(std::max<std::int64_t>(-2, -shape[d] / 2), most);
    pads[shape.size() + d] = draw.in(std::max<std::int64_t>(-2, -shape[d] / 2), most);
  }
  const DataType type = draw.type();
  drawn.inputs = {numbers(draw, type, shape), ints(pads)};
  if (draw.chance(50)) drawn.inputs.push_back(made(type, {}, [&] { return draw.real(-3, 3); }));
  return drawn;
}

RandomCall draw_resize(Draw& draw) {
  Shape shape = draw.shape(1, 4);
  std::vector<std::int64_t> sizes;
  for (std::int64_t& dim : shape) {
    dim = std::max<std::int64_t>(dim, 1);
    sizes.push_back(draw.chance(50) ? dim : draw.chance(50) ? 2 * dim : draw.in(0, 20));
  }
  RandomCall drawn{.call = {.type = "Resize", .version = 11}};
  drawn.call.attrs.set("mode", draw.one_of<std::string>({"nearest", "linear", "cubic"}));
  drawn.call.attrs.set("coordinate_transformation_mode",
                       draw.one_of<std::string>(
                           {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}));
  drawn.call.attrs.set("nearest_mode",
                       draw.one_of<std::string>({"round_prefer_floor", "floor", "ceil"}));
  DataType type = draw.one_of({DataType::kFloat, DataType::kUint8, DataType::kInt8,
                               DataType::kFloat16, DataType::kDouble, DataType::kInt32});
  drawn.inputs = {numbers(draw, type, shape), nullptr, nullptr, ints(sizes)};
  return drawn;
}

RandomCall draw_conv_transpose(Draw& draw) {
  const std::int64_t groups = draw.in(1, 2), outputs = draw.in(1, 5);
  Shape x = {draw.in(1, 2), groups * draw.in(1, 4)}, weight = {x[1], outputs};
  std::vector<std::int64_t> pads, strides, dilations;
  const std::int64_t rank = draw.in(1, 3);
  for (std::int64_t i = 0; i < rank; ++i) {
    x.push_back(draw.in(1, 7));
    weight.push_back(draw.in(1, 3));
    strides.push_back(draw.in(1, 3));
    dilations.push_back(draw.in(1, 2));
    pads.push_back(x.back() > 2 && weight.back() > 1 ? 1 : 0);
  }
  if (draw.chance(25)) {  // a wide window over so many places that there are rows of them
    x.back() = draw.in(16, 70);
    weight.back() = draw.in(32, 70);
    strides.back() = draw.in(1, 30);
    dilations.back() = 1;
  } else if (draw.chance(25)) {  // images of one place
    std::fill(x.begin() + 2, x.end(), 1);
    std::ranges::fill(pads, 0);
  }
  pads.insert(pads.end(), pads.begin(), pads.begin() + rank);
  const DataType type = draw.one_of({DataType::kFloat, DataType::kDouble});
  RandomCall drawn{.call = {.type = "Conv2DTranspose"},
                   .tolerance = type == DataType::kFloat ? 1e-6 : 1e-14};
  drawn.call.attrs.set("group", groups);
  drawn.call.attrs.set("strides", strides);
  drawn.call.attrs.set("dilations", dilations);
  drawn.call.attrs.set("pads", pads);
  drawn.inputs = {numbers(draw, type, x), numbers(draw, type, weight)};
  if (draw.chance(50)) drawn.inputs.push_back(numbers(draw, type, {groups * outputs}));
  return drawn;
}

/// A pool's window over one to three axes.
RandomCall draw_pool(Draw& draw, const std::string& type, std::int64_t most = 20) {
  const std::int64_t rank = draw.in(1, 3);
  Shape x = {draw.in(1, 3), draw.in(1, 9)};
  std::vector<std::int64_t> kernel, pads, strides, dilations;
  for (std::int64_t i = 0; i < rank; ++i) {
    x.push_back(draw.in(5, most));
    kernel.push_back(draw.in(1, 3));
    strides.push_back(draw.in(1, 3));
    dilations.push_back(draw.in(1, 2));
    pads.push_back(draw.in(0, kernel.back() - 1));
  }
  pads.insert(pads.end(), pads.begin(), pads.begin() + rank);
  RandomCall drawn{.call = {.type = type}};
  drawn.call.attrs.set("kernel_shape", kernel);
  drawn.call.attrs.set("strides", strides);
  drawn.call.attrs.set("dilations", dilations);
  drawn.call.attrs.set("pads", pads);
  drawn.call.attrs.set("ceil_mode", draw.in(0, 1));
  drawn.inputs = {with_ties(draw, draw.one_of({DataType::kFloat, DataType::kDouble}), x)};
  return drawn;
}

RandomCall draw_max_pool(Draw& draw) {
  RandomCall drawn = draw_pool(draw, "MaxPoolV3");
  drawn.outputs = draw.chance(50) ? 1 : 2;
  if (drawn.outputs == 1) drawn.tolerance = 1e-300;  // which of two zeros is the larger
  if (draw.chance(40))
    drawn.inputs = {with_ties(draw, draw.one_of({DataType::kInt8, DataType::kUint8}),
                              drawn.inputs[0]->desc().shape)};
  drawn.call.attrs.set("storage_order", draw.in(0, 1));
  return drawn;
}

RandomCall draw_average_pool(Draw& draw) {
  RandomCall drawn = draw_pool(draw, "AvgPoolV2");
  drawn.call.attrs.set("count_include_pad", draw.in(0, 1));
  return drawn;
}

RandomCall draw_lp_pool(Draw& draw) {
  RandomCall drawn = draw_pool(draw, "LpPool", 8);  // the reference raises each element to a power
  drawn.call.attrs.set("p", draw.in(1, 3));
  drawn.tolerance = 1e-6;
  return drawn;
}

RandomCall draw_dynamic_quantize(Draw& draw) {
  const double low = draw.one_of({-3.0, 0.0, 2.0}), high = draw.one_of({0.0, 3.0, 1000.0});
  return {.call = {.type = "DynamicQuantizeLinear", .version = 11},
          .inputs = {numbers(draw, DataType::kFloat, draw.shape(0, 4), std::min(low, high),
                             std::max(low, high))},
          .outputs = 3};
}

RandomCall draw_random(Draw& draw, const std::string& type) {
  RandomCall drawn{.call = {.type = type, .version = type == "Bernoulli" ? 15 : 1}};
  drawn.call.attrs.set("seed", static_cast<float>(draw.real(0, 100)));
  const Shape shape = draw.shape(1, 3);
  if (type == "RandomNormal" || type == "RandomUniform")
    drawn.call.attrs.set("shape", std::vector<std::int64_t>(shape));
  else
    drawn.inputs = {numbers(draw, DataType::kFloat, shape, 0, 1)};
  if (type.starts_with("RandomNormal") && draw.chance(50)) {
    drawn.call.attrs.set("mean", 2.5f);
    drawn.call.attrs.set("scale", 0.3f);
  }
  if (type.starts_with("RandomUniform") && draw.chance(50)) {
    drawn.call.attrs.set("low", -2.0f);
    drawn.call.attrs.set("high", 0.7f);
  }
  const bool is_bell = type.starts_with("RandomNormal");
  if (is_bell) drawn.tolerance = 2e-7;
  if (draw.chance(30)) {
    const auto dtype = draw.one_of<std::int64_t>({1, 10, 11});
    drawn.call.attrs.set("dtype", dtype);
    if (is_bell && dtype == 11) drawn.tolerance = 1e-14;
  }
  return drawn;
}

const Drawers& drawers() {
  static const Drawers all = [] {
    Drawers made = {{"TopKV2", draw_top_k},
                    {"NonZero", draw_non_zero},
                    {"Unique", draw_unique},
                    {"GridSample", draw_grid_sample},
                    {"ROIAlign", draw_roi_align},
                    {"MaxRoiPool", draw_max_roi_pool},
                    {"DeformableConv2D", draw_deform_conv},
                    {"NonMaxSuppressionV7", draw_nms},
                    {"MaxUnpool", draw_max_unpool},
                    {"Col2im", draw_col2im},
                    {"GatherV2", draw_gather},
                    {"GatherElements", draw_gather_elements},
                    {"GatherNd", draw_gather_nd},
                    {"PadV3", draw_pad},
                    {"Resize", draw_resize},
                    {"Conv2DTranspose", draw_conv_transpose},
                    {"MaxPoolV3", draw_max_pool},
                    {"AvgPoolV2", draw_average_pool},
                    {"LpPool", draw_lp_pool},
                    {"DynamicQuantizeLinear", draw_dynamic_quantize}};
    for (const char* type :
         {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli"})
      made[type] = [type](Draw& draw) { return draw_random(draw, type); };
    add_more_drawers(made);
    add_network_drawers(made);
    add_recurrent_drawers(made);
    add_fourier_drawers(made);
    add_attention_drawers(made);
    add_byte_image_drawers(made);
    return made;
  }();
  return all;
}

}  // namespace

std::vector<std::string> drawn_types() {
  std::vector<std::string> types;
  for (const auto& [type, drawer] : drawers()) types.push_back(type);
  return types;
}

RandomCall draw_call(const std::string& type, unsigned seed) {
  Draw draw(seed);
  return drawers().at(type)(draw);
}

}  // namespace aoe::native
