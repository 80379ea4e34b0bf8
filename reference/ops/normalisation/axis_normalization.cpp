// MeanVarianceNormalization, LpNormalization, LRN: elements divided by a norm of those around them
// along axes.
#include <cmath>

#include "reference/elements/doubles.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_same(const InferContext& context) {
  return {{.dtype = context.dtype(0), .shape = context.shape(0)}};
}

/// For each element the position of its statistics: elements that differ along `axes` only share
/// one.
std::vector<std::size_t> statistics_of(const Shape& shape, const std::vector<std::size_t>& axes) {
  Shape kept = shape;
  for (std::size_t axis : axes) kept[axis] = 1;
  Strides strides = dense_strides(kept);
  for (std::size_t axis : axes) strides[axis] = 0;
  std::vector<std::size_t> positions;
  check_doubles(static_cast<std::size_t>(element_count(shape)));  // of the same size
  positions.reserve(static_cast<std::size_t>(element_count(shape)));
  for_each_row(shape, std::array{strides},
               [&](const auto& offsets, const auto& steps, std::int64_t n) {
                 for (std::int64_t i = 0; i < n; ++i) {
                   positions.push_back(static_cast<std::size_t>(offsets[0] + i * steps[0]));
                 }
               });
  return positions;
}

std::vector<std::size_t> mean_variance_axes(const Attrs& attrs, const Shape& shape) {
  return normalize_axes(attrs.get_ints("axes", {0, 2, 3}), shape.size());
}

std::vector<TensorDesc> infer_mean_variance(const InferContext& context) {
  mean_variance_axes(context.attrs, context.shape(0));
  return infer_same(context);
}

std::vector<TensorDesc> infer_lp(const InferContext& context) {
  normalize_axis(context.attrs.get_int("axis", -1), context.shape(0).size());
  return infer_same(context);
}

void compute_mean_variance(const OpContext& context) {
  const Shape& shape = context.inputs[0].desc.shape;
  const auto axes = mean_variance_axes(context.attrs, shape);
  double count = 1;
  for (std::size_t axis : axes) count *= static_cast<double>(shape[axis]);
  auto values = to_doubles(context.inputs[0]);
  const auto group = statistics_of(shape, axes);
  std::vector<double> mean = doubles(values.size()), variance = doubles(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) mean[group[i]] += values[i] / count;
  for (std::size_t i = 0; i < values.size(); ++i) {
    variance[group[i]] += std::pow(values[i] - mean[group[i]], 2) / count;
  }
  constexpr double kEpsilon = 1e-9;  // the one ONNX's definition of this function has
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (values[i] - mean[group[i]]) / (std::sqrt(variance[group[i]]) + kEpsilon);
  }
  from_doubles(values, context.outputs[0]);
}

void compute_lp(const OpContext& context) {
  const Shape& shape = context.inputs[0].desc.shape;
  const auto p = static_cast<double>(context.attrs.get_int("p", 2));
  const auto group =
      statistics_of(shape, {normalize_axis(context.attrs.get_int("axis", -1), shape.size())});
  auto values = to_doubles(context.inputs[0]);
  std::vector<double> sums = doubles(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    sums[group[i]] += std::pow(std::abs(values[i]), p);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double norm = std::pow(sums[group[i]], 1 / p);
    values[i] = norm == 0 ? 0 : values[i] / norm;
  }
  from_doubles(values, context.outputs[0]);
}

/// Each element over a power of the squares of its neighbours across channels.
void compute_lrn(const OpContext& context) {
  const AxisView view = view_axis(context.inputs[0].desc.shape, 1);
  const std::int64_t size = context.attrs.get_int("size", 1);
  const double alpha = context.attrs.get_float("alpha", 1e-4F) / static_cast<double>(size);
  const double beta = context.attrs.get_float("beta", 0.75F);
  const double bias = context.attrs.get_float("bias", 1.0F);
  const auto x = to_doubles(context.inputs[0]);
  auto y = x;
  for (std::int64_t n = 0; n < view.outer; ++n) {
    for (std::int64_t c = 0; c < view.dim; ++c) {
      const std::int64_t first = std::max<std::int64_t>(0, c - (size - 1) / 2);
      const std::int64_t last = std::min(view.dim - 1, c + size / 2);
      for (std::int64_t i = 0; i < view.inner; ++i) {
        const auto at = [&](std::int64_t channel) {
          return static_cast<std::size_t>((n * view.dim + channel) * view.inner + i);
        };
        double squares = 0;
        for (std::int64_t other = first; other <= last; ++other)
          squares += x[at(other)] * x[at(other)];
        y[at(c)] = x[at(c)] / std::pow(bias + alpha * squares, beta);
      }
    }
  }
  from_doubles(y, context.outputs[0]);
}

double neighbour_steps(const CostContext& cost) {
  return cost.output_elements() * static_cast<double>(cost.attrs.get_int("size", 1));
}

}  // namespace

void register_axis_normalization(OpRegistry& registry) {
  registry.add({.type = "MVN",
                .onnx_type = "MeanVarianceNormalization",
                .versions = {9},
                .signature = {"f", "axes=ints"},
                .kind = OpKind::kNormalisation,
                .infer = infer_mean_variance,
                .compute = compute_mean_variance,
                .slices = apart_but_for([](const Slicing& slicing) {
                  std::vector<bool> flags(slicing.shape(0).size(), false);
                  for (const std::size_t axis : mean_variance_axes(slicing.attrs, slicing.shape(0)))
                    flags[axis] = true;
                  return flags;
                })});
  registry.add({.type = "LpNorm",
                .onnx_type = "LpNormalization",
                .signature = {"f:1+", "axis=int p=1..2"},
                .kind = OpKind::kNormalisation,
                .infer = infer_lp,
                .compute = compute_lp,
                .slices = apart_but_for_axis(-1)});
  registry.add({.type = "LRN",
                .signature = {"f:2+", "!size=1.. alpha=float beta=float bias=float"},
                .kind = OpKind::kNormalisation,
                .infer = infer_same,
                .compute = compute_lrn,
                .work = neighbour_steps,
                .has_image_formats = true,
                .is_per_image = true});
}

}  // namespace aoe::reference
