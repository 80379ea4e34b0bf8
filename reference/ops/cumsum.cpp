// CumSum: running sums along an axis.
#include "reference/axes.h"
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_cumsum(const InferContext& ctx) {
  if (ctx.has_value(1))
    normalize_axis(read_scalar<std::int64_t>(ctx.inputs[1], "axis"), ctx.shape(0).size());
  return infer_like_first(ctx);
}

void compute_cumsum(const OpContext& ctx) {
  const Shape& shape = ctx.inputs[0].desc.shape;
  const AxisView view = view_axis(
      shape, normalize_axis(read_scalar<std::int64_t>(ctx.inputs[1], "axis"), shape.size()));
  const bool is_exclusive = ctx.attrs.get_int("exclusive", 0) != 0;
  const bool is_reverse = ctx.attrs.get_int("reverse", 0) != 0;
  visit_type<NumericTypes>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
    using Sum = SumType<T>;
    for (std::int64_t o = 0; o < view.outer; ++o) {
      for (std::int64_t i = 0; i < view.inner; ++i) {
        Sum sum = 0;
        for (std::int64_t step = 0; step < view.dim; ++step) {
          const std::int64_t k = is_reverse ? view.dim - 1 - step : step;
          const std::int64_t at = (o * view.dim + k) * view.inner + i;
          const Sum next =
              sum + static_cast<Sum>(static_cast<ComputeType<T>>(ctx.inputs[0].as<T>()[at]));
          ctx.outputs[0].as<T>()[at] = convert<T>(is_exclusive ? sum : next);
          sum = next;
        }
      }
    }
  });
}

}  // namespace

void register_cumsum(OpRegistry& registry) {
  registry.add({.type = "Cumsum",
                .onnx_type = "CumSum",
                .kind = OpKind::kReduction,
                .infer = infer_cumsum,
                .compute = compute_cumsum,
                .min_inputs = 2});
}

}  // namespace aoe::reference
