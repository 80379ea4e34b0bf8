// BatchNorm: scales and shifts each channel by stored statistics, or, with training_mode, by the
// batch's own.
#include <algorithm>
#include <cmath>

#include "reference/fail.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

constexpr int kTrainingModeVersion =
    14;  ///< before it, wanting more than one output meant training

/// N x C x the rest; a single axis is N with one channel.
AxisView channels_of(const Shape& x) {
  return x.size() < 2 ? AxisView{element_count(x), 1, 1} : view_axis(x, 1);
}

std::vector<TensorDesc> infer_batch_norm(const InferContext& context) {
  const std::int64_t channels = channels_of(context.shape(0)).dim;
  const char* const names[] = {"the scale", "the bias", "the mean", "the variance"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    check_vector(context.shape(i + 1), channels, names[i]);
  }
  std::vector<TensorDesc> outputs = {{.dtype = context.dtype(0), .shape = context.shape(0)}};
  const bool is_training =
      context.version >= kTrainingModeVersion && context.attrs.get_int("training_mode", 0) != 0;
  if (context.output_count > 1 && !is_training)
    fail_model("its statistics are wanted as outputs, which needs training_mode=1 and opset 14");
  for (std::size_t i = 1; i < std::min<std::size_t>(context.output_count, 3); ++i) {
    outputs.push_back({.dtype = context.dtype(3), .shape = context.shape(1)});
  }
  return outputs;
}

struct Statistics {
  std::vector<double> mean, variance;
};

Statistics batch_statistics(const std::vector<double>& x, const AxisView& view) {
  const auto channels = static_cast<std::size_t>(view.dim);
  const double count = static_cast<double>(view.outer * view.inner);
  Statistics statistics{std::vector<double>(channels), std::vector<double>(channels)};
  const auto for_each = [&](auto visit) {
    std::size_t i = 0;
    for (std::int64_t n = 0; n < view.outer; ++n) {
      for (std::size_t c = 0; c < channels; ++c) {
        for (std::int64_t j = 0; j < view.inner; ++j) visit(c, x[i++]);
      }
    }
  };
  for_each([&](std::size_t c, double value) { statistics.mean[c] += value / count; });
  for_each([&](std::size_t c, double value) {
    statistics.variance[c] += std::pow(value - statistics.mean[c], 2) / count;
  });
  return statistics;
}

/// running * momentum + batch * (1 - momentum)
void write_running(const Tensor& running, const std::vector<double>& batch, double momentum,
                   const Tensor& output) {
  auto values = to_doubles(running);
  for (std::size_t c = 0; c < values.size(); ++c) {
    values[c] = values[c] * momentum + batch[c] * (1 - momentum);
  }
  from_doubles(values, output);
}

void compute_batch_norm(const OpContext& context) {
  const AxisView view = channels_of(context.inputs[0].desc.shape);
  const double epsilon = context.attrs.get_float("epsilon", 1e-5F);
  const double momentum = context.attrs.get_float("momentum", 0.9F);
  const bool is_training =
      context.version >= kTrainingModeVersion && context.attrs.get_int("training_mode", 0) != 0;
  if (!is_training && context.has_output(1)) {
    fail_model("its statistics are wanted as outputs, which needs training_mode=1 and opset 14");
  }
  auto values = to_doubles(context.inputs[0]);
  const auto scale = to_doubles(context.inputs[1]), bias = to_doubles(context.inputs[2]);
  const Statistics statistics =
      is_training ? batch_statistics(values, view)
                  : Statistics{to_doubles(context.inputs[3]), to_doubles(context.inputs[4])};
  std::size_t i = 0;
  for (std::int64_t n = 0; n < view.outer; ++n) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(view.dim); ++c) {
      const double factor = scale[c] / std::sqrt(statistics.variance[c] + epsilon);
      for (std::int64_t j = 0; j < view.inner; ++j, ++i) {
        values[i] = (values[i] - statistics.mean[c]) * factor + bias[c];
      }
    }
  }
  from_doubles(values, context.outputs[0]);
  if (context.has_output(1)) {
    write_running(context.inputs[3], statistics.mean, momentum, context.outputs[1]);
  }
  if (context.has_output(2)) {
    write_running(context.inputs[4], statistics.variance, momentum, context.outputs[2]);
  }
}

}  // namespace

void register_batch_normalization(OpRegistry& registry) {
  registry.add({.type = "BatchNorm",
                .onnx_type = "BatchNormalization",
                .versions = {1, 9, kTrainingModeVersion},
                .signature = {"f1:1+ f:1 f:1 f:1 f:1",
                              "epsilon=float momentum=float training_mode=0..1 spatial=1..1"},
                .kind = OpKind::kNormalisation,
                .infer = infer_batch_norm,
                .compute = compute_batch_norm,
                .min_inputs = 5,
                .slices = [](const Slicing& slicing) {
                  return slicing.attrs.get_int("training_mode", 0) == 0 && images_apart(slicing);
                }});
}

}  // namespace aoe::reference
