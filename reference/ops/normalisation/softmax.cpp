// SoftmaxV2, LogSoftmaxV2, HardMax: along one axis since opset 13, over all axes from `axis` on
// before.
#include <algorithm>
#include <cmath>

#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_softmax(const InferContext& context) {
  softmax_view(context.attrs, context.version, context.shape(0));
  return {{.dtype = context.dtype(0), .shape = context.shape(0)}};
}

/// Calls transform(line) with the elements along the axis, for each line, and stores what it leaves
/// there.
template <typename Transform>
void transform_lines(const OpContext& context, Transform transform) {
  const AxisView view = softmax_view(context.attrs, context.version, context.inputs[0].desc.shape);
  auto values = to_doubles(context.inputs[0]);
  if (values.empty()) return;
  std::vector<double> line(static_cast<std::size_t>(view.dim));
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const auto at = [&](std::size_t k) {
        return static_cast<std::size_t>((o * view.dim + static_cast<std::int64_t>(k)) * view.inner +
                                        i);
      };
      for (std::size_t k = 0; k < line.size(); ++k) line[k] = values[at(k)];
      transform(line);
      for (std::size_t k = 0; k < line.size(); ++k) values[at(k)] = line[k];
    }
  }
  from_doubles(values, context.outputs[0]);
}

/// Subtracts the largest, so that exp() cannot overflow, and returns the sum of exp().
double shift_and_sum(std::vector<double>& line) {
  const double largest = *std::max_element(line.begin(), line.end());
  double sum = 0;
  for (double& value : line) {
    value -= largest;
    sum += std::exp(value);
  }
  return sum;
}

void compute_softmax(const OpContext& context) {
  transform_lines(context, [](std::vector<double>& line) {
    const double sum = shift_and_sum(line);
    for (double& value : line) value = std::exp(value) / sum;
  });
}

void compute_log_softmax(const OpContext& context) {
  transform_lines(context, [](std::vector<double>& line) {
    const double log_sum = std::log(shift_and_sum(line));
    for (double& value : line) value -= log_sum;
  });
}

void compute_hardmax(const OpContext& context) {
  transform_lines(context, [](std::vector<double>& line) {
    const auto largest = std::max_element(line.begin(), line.end()) - line.begin();
    std::fill(line.begin(), line.end(), 0);
    line[static_cast<std::size_t>(largest)] = 1;
  });
}

double softmax_flops(const CostContext& cost) {
  return 5.0 * cost.output_elements();
}

/// Before opset 13 all axes from `axis` on.
std::vector<bool> softmax_axes(const Slicing& slicing) {
  const Shape& shape = slicing.shape(0);
  const bool is_single = slicing.version >= kSingleAxisVersion;
  const std::int64_t axis = slicing.attrs.get_int("axis", is_single ? -1 : 1);
  std::vector<bool> flags(shape.size(), false);
  if (axis == std::ssize(shape)) return flags;
  const auto first =
      flags.begin() + static_cast<std::ptrdiff_t>(normalize_axis(axis, shape.size()));
  std::fill(first, is_single ? first + 1 : flags.end(), true);
  return flags;
}

}  // namespace

void register_softmax(OpRegistry& registry) {
  const auto add = [&](const char* type, const char* onnx_type, ComputeFn compute) {
    registry.add({.type = type,
                  .onnx_type = onnx_type,
                  .versions = {1, kSingleAxisVersion},
                  .signature = {"f", "axis=int"},
                  .kind = OpKind::kNormalisation,
                  .infer = infer_softmax,
                  .compute = std::move(compute),
                  .flops = softmax_flops,
                  .slices = apart_but_for(softmax_axes)});
  };
  add("SoftmaxV2", "Softmax", compute_softmax);
  add("LogSoftmaxV2", "LogSoftmax", compute_log_softmax);
  add("HardMax", "Hardmax", compute_hardmax);
}

}  // namespace aoe::reference
