// Clip: each element kept between two bounds, which are attributes before opset 11 and inputs
// since.
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

std::optional<Formula> bound(const FormulaContext& context, std::size_t operand,
                             const char* attribute) {
  if (context.has_operand(operand)) return context.operand(operand);
  if (!context.attrs.has(attribute)) return {};
  return context.operand(0).like(context.attrs.get_float(attribute, 0));
}

/// The bounds may cross, and then the upper one wins.
Formula clip(const FormulaContext& context) {
  Formula x = context.operand(0);
  if (const auto low = bound(context, 1, "min")) x = max(x, *low);
  if (const auto high = bound(context, 2, "max")) x = min(x, *high);
  return x;
}

}  // namespace

void register_clip(OpRegistry& registry) {
  OpDef def = elementwise("ClipByValue", "Clip",
                          {"n1 n1?@11:0-1 n1?@11:0-1", "min=float max=float"}, clip, infer_clip);
  def.versions = {1, 11};
  registry.add(std::move(def));
}

}  // namespace aoe::reference
