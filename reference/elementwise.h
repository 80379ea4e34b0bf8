// Makes OpDefs of elementwise operators from the formula of one element.
//
//   registry.add(unary("Exp", "Exp", {"f"}, Fn::kExp));
//   registry.add(elementwise("Softsign", "Softsign", {"f"}, [](const FormulaContext& context) {
//     const Formula x = context.operand(0);
//     return x / (x.like(1) + apply(Fn::kAbs, {x}));
//   }));
#pragma once

#include <string>

#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/tensors/broadcast.h"

namespace aoe::reference {

inline std::vector<TensorDesc> infer_like_first(const InferContext& ctx) {
  return {ctx.inputs[0].desc};
}

/// The dtype that all present inputs from `first` on share; Error(kModel) when they differ.
DataType common_dtype(const InferContext& ctx, std::size_t first = 0);

/// One output of the inputs' common dtype and broadcast shape.
std::vector<TensorDesc> infer_broadcast(const InferContext& ctx);

/// The same, of bool.
std::vector<TensorDesc> infer_truth(const InferContext& ctx);

/// Of operands that broadcast; those of `infer` others.
OpDef elementwise(std::string type, std::string onnx_type, OpSignature signature, FormulaFn formula,
                  InferFn infer = infer_broadcast);

/// One function of one operand.
OpDef unary(std::string type, std::string onnx_type, OpSignature signature, Fn fn);

/// Of two operands, both of which must be there.
OpDef binary(std::string type, std::string onnx_type, OpSignature signature,
             std::function<Formula(const FormulaContext&, const Formula&, const Formula&)> formula,
             InferFn infer = infer_broadcast);

}  // namespace aoe::reference
