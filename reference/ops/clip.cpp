// Clip: each element kept between two bounds, which are attributes before opset 11 and inputs
// since.
#include <algorithm>
#include <limits>

#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_clip(const InferContext& ctx) {
  for (std::size_t i = 1; i < 3; ++i) {
    if (ctx.has_input(i) && is_static(ctx.shape(i)) && element_count(ctx.shape(i)) != 1)
      fail_model("a bound must be a scalar, but its shape is " + to_string(ctx.shape(i)));
  }
  return {{.dtype = common_dtype(ctx), .shape = ctx.shape(0)}};
}

template <typename C>
C bound(const OpContext& ctx, std::size_t input, const char* attribute, C fallback) {
  if (ctx.version >= 11)
    return ctx.has_input(input) ? read_scalar<C>(ctx.inputs[input], attribute) : fallback;
  return ctx.attrs.has(attribute) ? convert<C>(ctx.attrs.get_float(attribute, 0)) : fallback;
}

void compute_clip(const OpContext& ctx) {
  visit_type<NumericTypes>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
    using C = ComputeType<T>;
    using Limits = std::numeric_limits<C>;
    const C low =
        bound<C>(ctx, 1, "min", Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
    const C high =
        bound<C>(ctx, 2, "max", Limits::has_infinity ? Limits::infinity() : Limits::max());
    const T* x = ctx.inputs[0].as<T>();
    T* y = ctx.outputs[0].as<T>();
    const std::int64_t count = ctx.outputs[0].elements();
    // Not std::clamp: the bounds may cross, and then the upper one wins.
    for (std::int64_t i = 0; i < count; ++i)
      y[i] = static_cast<T>(std::min(std::max(static_cast<C>(x[i]), low), high));
  });
}

}  // namespace

void register_clip(OpRegistry& registry) {
  registry.add({.type = "ClipByValue",
                .onnx_type = "Clip",
                .versions = {1, 11},
                .infer = infer_clip,
                .compute = compute_clip,
                .is_elementwise = true});
}

}  // namespace aoe::reference
