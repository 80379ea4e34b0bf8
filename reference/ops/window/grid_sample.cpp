// GridSample: the input read at positions that a grid gives, in units of [-1, 1] across each spatial axis.
#include <algorithm>

#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"
#include "reference/tensors/widen.h"
#include "reference/windows/grid_sampler.h"
#include "reference/work.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_grid_sample(const InferContext& context) {
  const Shape &x = context.shape(0), &grid = context.shape(1);
  if (x.size() < 3 || grid.size() != x.size() ||
      (grid.back() != kUnknownDim && grid.back() != std::ssize(x) - 2)) {
    fail_model("grid " + to_string(grid) + " for an input " + to_string(x));
  }
  if (x[0] != grid[0] && x[0] != kUnknownDim && grid[0] != kUnknownDim)
    fail_model("a batch of " + std::to_string(x[0]) + " with a grid of " + std::to_string(grid[0]));
  if (std::find(x.begin() + 2, x.end(), 0) != x.end())
    fail_model("input " + to_string(x) + " has no pixels to sample");
  Shape y = {x[0], x[1]};
  y.insert(y.end(), grid.begin() + 1, grid.end() - 1);
  return {{.dtype = context.dtype(0), .shape = std::move(y)}};
}

/// The sum over the product of all axes' taps, the last axis innermost.
double sample(const double* plane, const Shape& sizes, const std::vector<GridTaps>& taps,
              std::size_t axis, std::int64_t offset) {
  if (axis == sizes.size()) return plane[offset];
  double sum = 0;
  for (const GridTap& tap : taps[axis].all()) {
    sum += tap.weight * sample(plane, sizes, taps, axis + 1, offset * sizes[axis] + tap.position);
  }
  return sum;
}

void compute_grid_sample(const OpContext& context) {
  const Shape& shape = context.inputs[0].desc.shape;
  const Shape sizes(shape.begin() + 2, shape.end());
  const GridSampler sampler(context.attrs);
  const auto x = to_doubles(context.inputs[0]);
  const auto grid = to_doubles(context.inputs[1]);
  const std::int64_t channels = shape[1], plane = element_count(sizes);
  const Shape& y_shape = context.outputs[0].desc.shape;
  const std::int64_t points = dim_product(y_shape, 2, y_shape.size());
  std::vector<double> y = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
  std::vector<GridTaps> taps(sizes.size());
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    for (std::int64_t p = 0; p < points; ++p) {
      // The grid names the last axis first: x, y, z.
      const double* coordinates = grid.data() + (n * points + p) * std::ssize(sizes);
      for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        taps[axis] = sampler.taps(coordinates[sizes.size() - 1 - axis], sizes[axis]);
      }
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t nc = n * channels + c;
        y[static_cast<std::size_t>(nc * points + p)] =
            sample(x.data() + nc * plane, sizes, taps, 0, 0);
      }
    }
  }
  from_doubles(y, context.outputs[0]);
}

}  // namespace

void register_grid_sample(OpRegistry& registry) {
  registry.add({.type = "GridSample",
                .versions = {16},
                .signature = {"n:3-5 f:3-5",
                              "mode=bilinear|nearest|bicubic|linear|cubic "
                              "padding_mode=zeros|border|reflection align_corners=0..1"},
                .kind = OpKind::kWindow,
                .infer = infer_grid_sample,
                .compute = compute_grid_sample,
                .work = interpolation_steps,
                .min_inputs = 2});
}

}  // namespace aoe::reference
