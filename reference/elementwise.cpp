// Shape inference shared by the elementwise operators, and how they are put together.
#include "reference/elementwise.h"

namespace aoe::reference {

DataType common_dtype(const InferContext& ctx, std::size_t first) {
  const DataType dtype = ctx.dtype(first);
  for (std::size_t i = first + 1; i < ctx.inputs.size(); ++i) {
    if (ctx.has_input(i) && ctx.dtype(i) != dtype)
      fail_model("element types differ: " + std::string(name(dtype)) + " and " +
                 std::string(name(ctx.dtype(i))));
  }
  return dtype;
}

std::vector<TensorDesc> infer_broadcast(const InferContext& ctx) {
  Shape shape = ctx.shape(0);
  for (std::size_t i = 1; i < ctx.inputs.size(); ++i) {
    if (!ctx.has_input(i)) fail_model("input " + std::to_string(i) + " is missing");
    shape = broadcast_shapes(shape, ctx.shape(i));
  }
  return {{.dtype = common_dtype(ctx), .shape = std::move(shape)}};
}

std::vector<TensorDesc> infer_truth(const InferContext& ctx) {
  std::vector<TensorDesc> outputs = infer_broadcast(ctx);
  outputs.front().dtype = DataType::kBool;
  return outputs;
}

OpDef elementwise(std::string type, std::string onnx_type, OpSignature signature, FormulaFn formula,
                  InferFn infer) {
  return {.type = std::move(type),
          .onnx_type = std::move(onnx_type),
          .signature = std::move(signature),
          .kind = OpKind::kElementwise,
          .infer = std::move(infer),
          .formula = std::move(formula)};
}

OpDef unary(std::string type, std::string onnx_type, OpSignature signature, Fn fn) {
  return elementwise(
      std::move(type), std::move(onnx_type), std::move(signature),
      [fn](const FormulaContext& context) { return apply(fn, {context.operand(0)}); },
      infer_like_first);
}

OpDef binary(std::string type, std::string onnx_type, OpSignature signature,
             std::function<Formula(const FormulaContext&, const Formula&, const Formula&)> formula,
             InferFn infer) {
  OpDef def = elementwise(
      std::move(type), std::move(onnx_type), std::move(signature),
      [formula](const FormulaContext& context) {
        return formula(context, context.operand(0), context.operand(1));
      },
      std::move(infer));
  def.min_inputs = 2;
  return def;
}

}  // namespace aoe::reference
