// CumSum, CumProd: running sums and products along an axis.
#include "reference/elementwise.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_cumsum(const InferContext& ctx) {
  if (ctx.has_value(1))
    normalize_axis(read_scalar<std::int64_t>(ctx.inputs[1], "axis"), ctx.shape(0).size());
  return infer_like_first(ctx);
}

/// join(so far, next) of every element behind `first`.
template <typename Join>
void accumulate(const OpContext& ctx, int first, Join join) {
  const Shape& shape = ctx.inputs[0].desc.shape;
  const AxisView view = view_axis(
      shape, normalize_axis(read_scalar<std::int64_t>(ctx.inputs[1], "axis"), shape.size()));
  const bool is_exclusive = ctx.attrs.get_int("exclusive", 0) != 0;
  const bool is_reverse = ctx.attrs.get_int("reverse", 0) != 0;
  visit_type<NumericTypes>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
    using Total = SumType<T>;
    for (std::int64_t o = 0; o < view.outer; ++o) {
      for (std::int64_t i = 0; i < view.inner; ++i) {
        auto total = static_cast<Total>(first);
        for (std::int64_t step = 0; step < view.dim; ++step) {
          const std::int64_t k = is_reverse ? view.dim - 1 - step : step;
          const std::int64_t at = (o * view.dim + k) * view.inner + i;
          const Total next = join(
              total, static_cast<Total>(static_cast<ComputeType<T>>(ctx.inputs[0].as<T>()[at])));
          ctx.outputs[0].as<T>()[at] = convert<T>(is_exclusive ? total : next);
          total = next;
        }
      }
    }
  });
}

void compute_cumsum(const OpContext& ctx) {
  accumulate(ctx, 0, [](auto total, auto next) { return total + next; });
}

void compute_cumprod(const OpContext& ctx) {
  accumulate(ctx, 1, [](auto total, auto next) { return total * next; });
}

std::vector<bool> summed_axis(const Slicing& slicing) {
  if (slicing.inputs[1].data == nullptr) return {};
  std::vector<bool> flags(slicing.shape(0).size(), false);
  flags[normalize_axis(read_scalar<std::int64_t>(slicing.inputs[1], "axis"), flags.size())] = true;
  return flags;
}

}  // namespace

void register_cumsum(OpRegistry& registry) {
  registry.add({.type = "Cumsum",
                .onnx_type = "CumSum",
                .signature = {"n:1+ x:0-1", "exclusive=0..1 reverse=0..1"},
                .kind = OpKind::kReduction,
                .infer = infer_cumsum,
                .compute = compute_cumsum,
                .min_inputs = 2,
                .slices = apart_but_for(summed_axis)});
  registry.add({.type = "Cumprod",
                .onnx_type = "CumProd",
                .versions = {26},
                .signature = {"n:1+ x:0-1", "exclusive=0..1 reverse=0..1"},
                .kind = OpKind::kReduction,
                .infer = infer_cumsum,
                .compute = compute_cumprod,
                .min_inputs = 2,
                .slices = apart_but_for(summed_axis)});
}

}  // namespace aoe::reference
