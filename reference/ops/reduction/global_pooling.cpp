// GlobalAveragePool, GlobalMaxPool, GlobalLpPool: one number per plane.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

using Plane = std::span<const double>;

std::vector<TensorDesc> infer_global_pool(const InferContext& context) {
  Shape shape = context.shape(0);
  if (shape.size() < 2) fail_model("input " + to_string(shape) + " has no N and C axis");
  std::fill(shape.begin() + 2, shape.end(), 1);
  return {{.dtype = context.dtype(0), .shape = std::move(shape)}};
}

/// y = reduce(plane) for each N, C.
template <typename Reduce>
void reduce_planes(const OpContext& context, Reduce reduce) {
  const Tensor &x = context.inputs[0], &y = context.outputs[0];
  const auto values = to_doubles(x);
  std::vector<double> results = doubles(static_cast<std::size_t>(y.elements()));
  const std::size_t plane = results.empty() ? 0 : values.size() / results.size();
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = reduce(Plane(values).subspan(i * plane, plane));
  }
  from_doubles(results, y);
}

void compute_average(const OpContext& context) {
  reduce_planes(context, [](Plane plane) {
    return std::accumulate(plane.begin(), plane.end(), 0.0) / static_cast<double>(plane.size());
  });
}

void compute_max(const OpContext& context) {
  reduce_planes(context, [](Plane plane) {
    double best = -std::numeric_limits<double>::infinity();
    for (double value : plane) {
      if (value > best || std::isnan(value)) best = value;
    }
    return best;
  });
}

void compute_lp(const OpContext& context) {
  const auto p = static_cast<double>(context.attrs.get_int("p", 2));
  reduce_planes(context, [p](Plane plane) {
    double sum = 0;
    for (double value : plane) sum += std::pow(std::abs(value), p);
    return std::pow(sum, 1 / p);
  });
}

}  // namespace

void register_global_pooling(OpRegistry& registry) {
  registry.add({.type = "GlobalAveragePool",
                .signature = {"f:2+"},
                .kind = OpKind::kReduction,
                .infer = infer_global_pool,
                .compute = compute_average,
                .is_per_image = true});
  registry.add({.type = "GlobalMaxPool",
                .signature = {"f:2+"},
                .kind = OpKind::kReduction,
                .infer = infer_global_pool,
                .compute = compute_max,
                .slices = images_apart});
  registry.add({.type = "GlobalLpPool",
                .versions = {2},
                .signature = {"f:2+", "p=1.."},
                .kind = OpKind::kReduction,
                .infer = infer_global_pool,
                .compute = compute_lp,
                .slices = images_apart});
}

}  // namespace aoe::reference
