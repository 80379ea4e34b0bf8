// Cast: the same numbers in another element type.
#include "reference/elements/onnx_data_type.h"
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_cast(const InferContext& ctx) {
  if (!ctx.attrs.has("to")) fail_model("attribute 'to' is missing");
  return {{.dtype = data_type_from_onnx(ctx.attrs.get_int("to", 0)), .shape = ctx.shape(0)}};
}

Formula cast(const FormulaContext& context) {
  return convert(context.operand(0), context.output);
}

}  // namespace

void register_cast(OpRegistry& registry) {
  registry.add(elementwise("Cast", "Cast", {"a", "!to=1.. saturate=0..1"}, cast, infer_cast));
}

}  // namespace aoe::reference
