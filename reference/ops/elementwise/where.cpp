// Where: elements of one of two tensors, chosen by a third.
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_where(const InferContext& ctx) {
  if (ctx.dtype(0) != DataType::kBool)
    fail_model("the condition is " + std::string(name(ctx.dtype(0))));
  const Shape values = broadcast_shapes(ctx.shape(1), ctx.shape(2));
  return {{.dtype = common_dtype(ctx, 1), .shape = broadcast_shapes(ctx.shape(0), values)}};
}

}  // namespace

void register_where(OpRegistry& registry) {
  OpDef def = elementwise(
      "SelectV2", "Where", {"b a1 a1"},
      [](const FormulaContext& context) {
        return select(context.operand(0), context.operand(1), context.operand(2));
      },
      infer_where);
  def.min_inputs = 3;
  registry.add(std::move(def));
}

}  // namespace aoe::reference
