// InstanceNorm, LayerNorm, GroupNorm: runs of neighbouring elements, shifted and scaled to mean 0
// and variance 1.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/elements/doubles.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/broadcast.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

struct Moments {
  double mean = 0;
  double inverse_deviation = 0;  ///< 1 / sqrt(variance + epsilon)
};

/// Normalises each run of `length` elements in place and returns what it shifted and scaled by.
std::vector<Moments> normalize_runs(std::vector<double>& values, std::int64_t length,
                                    double epsilon) {
  std::vector<Moments> moments;
  const auto size = static_cast<std::size_t>(length);
  for (std::size_t begin = 0; begin < values.size(); begin += size) {
    const auto run = std::span(values).subspan(begin, size);
    double mean = 0, variance = 0;
    for (double value : run) mean += value;
    mean /= static_cast<double>(length);
    for (double value : run) variance += (value - mean) * (value - mean);
    variance /= static_cast<double>(length);
    const double inverse_deviation = 1 / std::sqrt(variance + epsilon);
    for (double& value : run) value = (value - mean) * inverse_deviation;
    moments.push_back({mean, inverse_deviation});
  }
  return moments;
}

void scale_and_shift(std::vector<double>& values, const std::vector<double>& scale,
                     const std::vector<double>& bias) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = values[i] * scale[i] + bias[i];
}

/// {C} seen as {C, 1, 1, ...}, so that it stretches along an N,C,spatial... tensor.
Tensor along_channels(Tensor parameter, std::size_t rank) {
  parameter.desc.shape.resize(rank - 1, 1);
  return parameter;
}

std::vector<TensorDesc> infer_same(const InferContext& context) {
  if (context.shape(0).size() < 2) {
    fail_model("input " + to_string(context.shape(0)) + " has no N and C axis");
  }
  return {{.dtype = context.dtype(0), .shape = context.shape(0)}};
}

std::vector<TensorDesc> infer_instance_norm(const InferContext& context) {
  check_vector(context.shape(1), context.shape(0)[1], "the scale");
  check_vector(context.shape(2), context.shape(0)[1], "the bias");
  return infer_same(context);
}

void compute_instance_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].desc.shape;
  auto values = to_doubles(context.inputs[0]);
  normalize_runs(values, dim_product(shape, 2, shape.size()),
                 context.attrs.get_float("epsilon", 1e-5F));
  scale_and_shift(values, to_doubles(along_channels(context.inputs[1], shape.size()), shape),
                  to_doubles(along_channels(context.inputs[2], shape.size()), shape));
  from_doubles(values, context.outputs[0]);
}

constexpr int kGroupNormPerChannelVersion = 21;  ///< scale and bias were per group before

/// One value a group -> one value a channel.
Tensor repeat_per_channel(const Tensor& per_group, std::int64_t channels,
                          std::vector<double>& storage) {
  const auto values = to_doubles(per_group);
  const auto group_size = static_cast<std::size_t>(channels) / values.size();
  storage.clear();
  for (double value : values) storage.insert(storage.end(), group_size, value);
  return {.desc = {.dtype = DataType::kDouble, .shape = {channels}}, .data = storage.data()};
}

std::vector<TensorDesc> infer_group_norm(const InferContext& context) {
  const std::int64_t channels = context.shape(0)[1];
  const std::int64_t groups = context.attrs.get_int("num_groups", 1);
  if (channels != kUnknownDim && channels % groups != 0)
    fail_model(std::to_string(channels) + " channels do not divide into " + std::to_string(groups) +
               " groups");
  const bool is_per_channel = context.version >= kGroupNormPerChannelVersion;
  check_vector(context.shape(1), is_per_channel ? channels : groups, "the scale");
  check_vector(context.shape(2), is_per_channel ? channels : groups, "the bias");
  return infer_same(context);
}

void compute_group_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].desc.shape;
  const std::int64_t groups = context.attrs.get_int("num_groups", 1);
  auto values = to_doubles(context.inputs[0]);
  normalize_runs(values, dim_product(shape, 1, shape.size()) / groups,
                 context.attrs.get_float("epsilon", 1e-5F));
  Tensor scale = context.inputs[1], bias = context.inputs[2];
  std::vector<double> scale_storage, bias_storage;
  if (context.version < kGroupNormPerChannelVersion) {
    scale = repeat_per_channel(scale, shape[1], scale_storage);
    bias = repeat_per_channel(bias, shape[1], bias_storage);
  }
  scale_and_shift(values, to_doubles(along_channels(scale, shape.size()), shape),
                  to_doubles(along_channels(bias, shape.size()), shape));
  from_doubles(values, context.outputs[0]);
}

std::size_t layer_norm_axis(const Attrs& attrs, const Shape& shape) {
  return normalize_axis(attrs.get_int("axis", -1), shape.size());
}

std::vector<TensorDesc> infer_layer_norm(const InferContext& context) {
  Shape statistics = context.shape(0);
  const std::size_t axis = layer_norm_axis(context.attrs, statistics);
  for (const std::size_t i : {1, 2})
    if (context.has_input(i) && !broadcasts_to(context.shape(i), statistics))
      fail_model("input " + std::to_string(i) + " of shape " + to_string(context.shape(i)) +
                 " does not stretch to " + to_string(statistics));
  std::fill(statistics.begin() + static_cast<std::ptrdiff_t>(axis), statistics.end(), 1);
  const DataType stash = data_type_from_onnx(context.attrs.get_int("stash_type", 1));
  std::vector<TensorDesc> outputs = {{.dtype = context.dtype(0), .shape = context.shape(0)}};
  while (outputs.size() < std::min<std::size_t>(context.output_count, 3))
    outputs.push_back({.dtype = stash, .shape = statistics});
  return outputs;
}

void compute_layer_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].desc.shape;
  const std::size_t axis = layer_norm_axis(context.attrs, shape);
  auto values = to_doubles(context.inputs[0]);
  const auto moments = normalize_runs(values, dim_product(shape, axis, shape.size()),
                                      context.attrs.get_float("epsilon", 1e-5F));
  if (context.has_output(0)) {
    const std::vector<double> zeros = doubles(context.has_input(2) ? 0 : values.size());
    scale_and_shift(values, to_doubles(context.inputs[1], shape),
                    context.has_input(2) ? to_doubles(context.inputs[2], shape) : zeros);
    from_doubles(values, context.outputs[0]);
  }
  // A run of no elements has neither.
  const auto runs = static_cast<std::size_t>(dim_product(shape, 0, axis));
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> means(runs, kNan), inverse_deviations(runs, kNan);
  for (std::size_t i = 0; i < moments.size(); ++i) {
    means[i] = moments[i].mean;
    inverse_deviations[i] = moments[i].inverse_deviation;
  }
  if (context.has_output(1)) from_doubles(means, context.outputs[1]);
  if (context.has_output(2)) from_doubles(inverse_deviations, context.outputs[2]);
}

bool layers_apart(const Slicing& slicing) {
  const Shape& shape = slicing.shape(0);
  const int axis = slicing.axes[0];
  if (axis == kWhole || !slicing.are_whole(1) ||
      static_cast<std::size_t>(axis) >= layer_norm_axis(slicing.attrs, shape))
    return false;
  const std::size_t from_last = shape.size() - static_cast<std::size_t>(axis);
  return slicing.stretches(1, from_last) &&
         (!slicing.has_input(2) || slicing.stretches(2, from_last));
}

}  // namespace

void register_normalization(OpRegistry& registry) {
  registry.add({.type = "InstanceNorm",
                .onnx_type = "InstanceNormalization",
                .signature = {"f1:2+ f1:1 f1:1", "epsilon=float"},
                .kind = OpKind::kNormalisation,
                .infer = infer_instance_norm,
                .compute = compute_instance_norm,
                .min_inputs = 3,
                .slices = images_apart});
  registry.add({.type = "GroupNorm",
                .onnx_type = "GroupNormalization",
                .versions = {18, kGroupNormPerChannelVersion},
                .signature = {"f1:2+ f1:1 f1:1", "epsilon=float !num_groups=1.. stash_type=1.."},
                .kind = OpKind::kNormalisation,
                .infer = infer_group_norm,
                .compute = compute_group_norm,
                .min_inputs = 3,
                .slices = images_apart});
  registry.add({.type = "LayerNorm",
                .onnx_type = "LayerNormalization",
                .versions = {17},
                .signature = {"f1:1+ f1 f1?", "axis=int epsilon=float stash_type=1.."},
                .kind = OpKind::kNormalisation,
                .infer = infer_layer_norm,
                .compute = compute_layer_norm,
                .min_inputs = 2,
                .slices = layers_apart});
}

}  // namespace aoe::reference
