// ArgMax and ArgMin: where along one axis the largest or smallest element is.
#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_arg(const InferContext& ctx) {
  Shape shape = ctx.shape(0);
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", 0), shape.size());
  if (shape[axis] == 0)
    fail_model("axis " + std::to_string(axis) + " of " + to_string(shape) + " is empty");
  if (ctx.attrs.get_int("keepdims", 1) != 0)
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return {{.dtype = DataType::kInt64, .shape = std::move(shape)}};
}

/// `wins(a, b)`: a is a better answer than b.
template <typename F>
void compute_arg(const OpContext& ctx, F wins) {
  const Shape& shape = ctx.inputs[0].desc.shape;
  const AxisView view =
      view_axis(shape, normalize_axis(ctx.attrs.get_int("axis", 0), shape.size()));
  const bool takes_last = ctx.attrs.get_int("select_last_index", 0) != 0;
  visit_type<NumericTypes>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
    using C = ComputeType<T>;
    std::int64_t* out = ctx.outputs[0].as<std::int64_t>();
    for (std::int64_t o = 0; o < view.outer; ++o) {
      for (std::int64_t i = 0; i < view.inner; ++i) {
        const T* x = ctx.inputs[0].as<T>() + o * view.dim * view.inner + i;
        std::int64_t best = 0;
        for (std::int64_t k = 1; k < view.dim; ++k) {
          const C value = static_cast<C>(x[k * view.inner]);
          const C champion = static_cast<C>(x[best * view.inner]);
          if (wins(value, champion) || (takes_last && value == champion)) best = k;
        }
        *out++ = best;
      }
    }
  });
}

}  // namespace

void register_arg_max(OpRegistry& registry) {
  registry.add(
      {.type = "ArgMaxV2",
       .onnx_type = "ArgMax",
       .signature = {"n:1+", "axis=int keepdims=0..1 select_last_index=0..1"},
       .kind = OpKind::kReduction,
       .infer = infer_arg,
       .compute =
           [](const OpContext& ctx) { compute_arg(ctx, [](auto a, auto b) { return a > b; }); },
       .slices = apart_but_for_axis(0)});
  registry.add(
      {.type = "ArgMin",
       .signature = {"n:1+", "axis=int keepdims=0..1 select_last_index=0..1"},
       .kind = OpKind::kReduction,
       .infer = infer_arg,
       .compute =
           [](const OpContext& ctx) { compute_arg(ctx, [](auto a, auto b) { return a < b; }); },
       .slices = apart_but_for_axis(0)});
}

}  // namespace aoe::reference
