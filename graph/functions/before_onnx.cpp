// Operators that ONNX took later under the same name or another one: Trilu, GatherND, ExpandDims, Pad, Range,
// GridSample, Unique and UnfoldTensor of com.microsoft; and ConvTransposeWithDynamicPads, whose pads are an input. Also what
// ONNX had as experiments, which models of its first years have and ONNX Runtime still runs: Affine, Crop, DynamicSlice,
// ImageScaler, ParametricSoftplus, Scale, ScaledTanh. And
// LayerNormalization and MeanVarianceNormalization as ONNX Runtime had them before ONNX.
#include "graph/import/quantized_terms.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

/// All inputs and attributes as they are.
auto same(const std::string& type) {
  return [type](FunctionCall& call) {
    std::vector<Term> inputs = {call.input(0)};
    if (call.has(1)) inputs.push_back(call.input(1));
    call.give(0, call.op(type, inputs, call.attrs()));
  };
}

/// A computed axis leaves the sizes to the run: those in front of it, 1, those behind it.
void expand_dims(FunctionCall& call) {
  const Term x = call.input(0);
  if (call.known(call.input(1)) != nullptr)
    return call.give(0, call.op("Unsqueeze", {x, call.ints({call.known_int(call.input(1))})}));
  const std::int64_t rank = call.rank(x) + 1;
  const auto number = [&](std::int64_t value) {
    return call.number(static_cast<double>(value), DataType::kInt64);
  };
  const Term given = call.cast(call.reshape(call.input(1), {}), DataType::kInt64);
  const Term is_from_end = call.op("Less", {given, number(0)});
  const Term axis = call.op("Where", {is_from_end, given + static_cast<double>(rank), given});
  const Term shape = call.op("Shape", {x}), places = call.numbered(rank);
  const Term in_front = call.concat({shape, call.ints({1})}, 0),
             behind = call.concat({call.ints({1}), shape}, 0);
  const Term not_behind = call.op("Where", {call.op("Equal", {places, axis}), number(1), in_front});
  reference::Attrs attrs;
  attrs.set("allowzero", std::int64_t{1});
  call.give(0,
            call.op("Reshape",
                    {x, call.op("Where", {call.op("Greater", {places, axis}), behind, not_behind})},
                    attrs));
}

/// Its pads may be a matrix of one row.
void expand_pad(FunctionCall& call) {
  call.give(
      0, call.op("Pad", {call.input(0), call.reshape(call.input(1), {-1}), optional_input(call, 2)},
                 call.attrs()));
}

void expand_range(FunctionCall& call) {
  const auto number = [&](std::size_t i) { return call.reshape(call.input(i), {}); };
  const Term step = call.has(2) ? number(2) : call.number(1, call.dtype(call.input(0)));
  call.give(0, call.op("Range", {number(0), number(1), step}));
}

void expand_grid_sample(FunctionCall& call) {
  reference::Attrs attrs = call.attrs();
  const std::string mode = attrs.get_string("mode", "bilinear");
  attrs.set("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  call.give(0, call.op("GridSample", {call.input(0), call.input(1)}, attrs));
}

/// Computed pads are cut off a result without any.
void expand_conv_transpose(FunctionCall& call) {
  reference::Attrs attrs = call.attrs();
  const bool is_computed = call.has(2) && call.known(call.input(2)) == nullptr;
  const std::int64_t axes = call.rank(call.input(0)) - 2;
  if (is_computed &&
      (attrs.has("output_shape") || attrs.get_string("auto_pad", "NOTSET") != "NOTSET"))
    throw NotExpressible{"its pads are computed beside auto_pad or output_shape"};
  if (is_computed)
    attrs.set("pads", std::vector<std::int64_t>(static_cast<std::size_t>(2 * axes), 0));
  else if (call.has(2))
    attrs.set("pads", call.known_ints(call.input(2)));
  const Term y =
      call.op("ConvTranspose", {call.input(0), call.input(1), optional_input(call, 3)}, attrs);
  if (!is_computed) return call.give(0, y);
  const Term pads = call.cast(call.input(2), DataType::kInt64);
  const Term begins = call.slice(pads, 0, 0, axes);
  const Term ends =
      call.slice(call.op("Shape", {y}), 0, 2, axes + 2) - call.slice(pads, 0, axes, 2 * axes);
  call.give(0, call.op("Slice", {y, begins, ends, call.numbered(axes) + 2.0}));
}

/// In the order in which values come; without where each was first.
void expand_unique(FunctionCall& call) {
  reference::Attrs attrs;
  attrs.set("sorted", std::int64_t{0});
  const std::vector<Term> found = call.ops("Unique", {call.input(0)}, attrs, 4);
  call.give(0, found[0]);
  call.give(1, found[2]);
  call.give(2, found[3]);
}

/// Windows of `size` along axis `dim`, one each `step`; a window's elements are the last axis.
void expand_unfold(FunctionCall& call) {
  const Term x = call.input(0);
  const std::int64_t rank = call.rank(x), size = call.attrs().get_int("size", 1),
                     step = call.attrs().get_int("step", 1);
  std::int64_t axis = call.attrs().get_int("dim", -1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) reference::fail_model("has no axis " + std::to_string(axis));
  if (step < 1 || size < 1 || call.dim(x, axis) < size)
    reference::fail_model("windows of " + std::to_string(size) + " each " + std::to_string(step) +
                          " of " + std::to_string(call.dim(x, axis)));
  std::vector<std::int64_t> places, order;
  const std::int64_t windows = (call.dim(x, axis) - size) / step + 1;
  constexpr std::int64_t kMostPlaces = 1 << 24;
  if (windows > kMostPlaces / size) throw NotExpressible{"its windows are too many"};
  for (std::int64_t i = 0; i < windows; ++i)
    for (std::int64_t j = 0; j < size; ++j) places.push_back(i * step + j);
  const Term cut =
      call.op("Gather", {x, call.reshape(call.ints(places), {windows, size})}, with_axis(axis));
  for (std::int64_t i = 0; i <= rank; ++i)
    if (i != axis + 1) order.push_back(i);
  order.push_back(axis + 1);
  call.give(0, call.transpose(cut, order));
}

/// Scale, shift and result may have another type than the data: then it is computed in the wider one.
void expand_layer_normalization(FunctionCall& call) {
  const Term x = call.input(0), scale = call.input(1);
  const DataType type = call.dtype(scale);
  DataType wide = type;
  if (call.dtype(x) != type)
    wide = type == DataType::kDouble || call.dtype(x) == DataType::kDouble ? DataType::kDouble
                                                                           : DataType::kFloat;
  std::vector<Term> inputs = {call.cast(x, wide), call.cast(scale, wide)};
  if (call.has(2)) inputs.push_back(call.cast(call.input(2), wide));
  const std::size_t outputs = call.wants(2) ? 3 : call.wants(1) ? 2 : 1;
  const auto results = call.ops("LayerNormalization", inputs, call.attrs(), outputs);
  call.give(0, call.cast(results[0], type));
  for (std::size_t i = 1; i < outputs; ++i) call.give(i, results[i]);
}

/// Of each channel or of all together, over the batch; the variance may stay.
void expand_mean_variance_normalization(FunctionCall& call) {
  const Term x = call.input(0);
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < call.rank(x); ++axis)
    if (axis != 1 || call.attrs().get_int("across_channels", 0) != 0) axes.push_back(axis);
  reference::Attrs attrs;
  attrs.set("axes", axes);
  call.give(0, call.attrs().get_int("normalize_variance", 1) != 0
                   ? call.op("MeanVarianceNormalization", {x}, attrs)
                   : x - call.op("ReduceMean", {x, call.ints(axes)}));
}

// ---- experiments ----

void expand_affine(FunctionCall& call) {
  const auto number = [&](const char* name, float absent) {
    return static_cast<double>(call.attrs().get_float(name, absent));
  };
  call.give(0, call.input(0) * number("alpha", 1) + number("beta", 0));
}

/// Without `border` at each side, or with `scale` the size that is left behind the border.
void expand_crop(FunctionCall& call) {
  const auto border = call.attrs().get_ints("border"), size = call.attrs().get_ints("scale");
  if (border.size() != 4 || (!size.empty() && size.size() != 2))
    reference::fail_model("needs a border of 4 numbers, and a scale of 2 or none");
  constexpr std::int64_t kMostPixels = std::int64_t{1} << 48;  // no image has more in a row
  for (const auto& given : {border, size})
    for (const std::int64_t pixels : given)
      if (pixels < 0 || pixels > kMostPixels)
        reference::fail_model("its border or scale is " + std::to_string(pixels));
  const Term x = call.input(0);
  const std::int64_t left = border[0], top = border[1],
                     bottom = size.empty() ? call.dim(x, 2) - border[3] : top + size[0],
                     right = size.empty() ? call.dim(x, 3) - border[2] : left + size[1];
  call.give(0, call.slice(call.slice(x, 2, top, bottom), 3, left, right));
}

void expand_scale(FunctionCall& call) {
  call.give(0, call.input(0) * static_cast<double>(call.attrs().get_float("scale", 1)));
}

void expand_dynamic_slice(FunctionCall& call) {
  call.give(
      0, call.op("Slice", {call.input(0), call.input(1), call.input(2), optional_input(call, 3)}));
}

void expand_image_scaler(FunctionCall& call) {
  const std::vector<float> bias = call.attrs().get_floats("bias");
  const auto scale = static_cast<double>(call.attrs().get_float("scale", 1));
  const Term x = call.input(0);
  const Term channels = call.floats({1, std::ssize(bias), 1, 1}, bias);
  call.give(0, x * scale + call.cast(channels, call.dtype(x)));
}

void expand_parametric_softplus(FunctionCall& call) {
  const auto alpha = static_cast<double>(call.attrs().get_float("alpha", 1)),
             beta = static_cast<double>(call.attrs().get_float("beta", 1));
  call.give(0, call.op("Softplus", {call.input(0) * beta}) * alpha);
}

void expand_scaled_tanh(FunctionCall& call) {
  const auto alpha = static_cast<double>(call.attrs().get_float("alpha", 1)),
             beta = static_cast<double>(call.attrs().get_float("beta", 1));
  call.give(0, call.op("Tanh", {call.input(0) * beta}) * alpha);
}

}  // namespace

void register_before_onnx(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "Trilu", same("Trilu")});
  registry.add({kMicrosoft, "GatherND", same("GatherND")});
  registry.add({kMicrosoft, "ExpandDims", expand_dims});
  registry.add({kMicrosoft, "Pad", expand_pad});
  registry.add({kMicrosoft, "Range", expand_range});
  registry.add({kMicrosoft, "GridSample", expand_grid_sample});
  registry.add({kMicrosoft, "ConvTransposeWithDynamicPads", expand_conv_transpose});
  registry.add(
      {kMicrosoft, "SampleOp", same("Identity")});  // what ONNX Runtime shows its schemas with
  registry.add({kMicrosoft, "Unique", expand_unique});
  registry.add({kMicrosoft, "UnfoldTensor", expand_unfold});
  registry.add({kMicrosoft, "LayerNormalization", expand_layer_normalization});
  registry.add({kMicrosoft, "MeanVarianceNormalization", expand_mean_variance_normalization});
  registry.add({"", "Affine", expand_affine});
  registry.add({"", "Crop", expand_crop});
  registry.add({"", "DynamicSlice", expand_dynamic_slice});
  registry.add({"", "ImageScaler", expand_image_scaler});
  registry.add({"", "ParametricSoftplus", expand_parametric_softplus});
  registry.add({"", "Scale", expand_scale});
  registry.add({"", "ScaledTanh", expand_scaled_tanh});
}

}  // namespace aoe::graph
