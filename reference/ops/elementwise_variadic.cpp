// Any number of tensors to one, with broadcasting: Max, Min, Sum, Mean.
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

Formula fold(const FormulaContext& context, Fn fn) {
  Formula result = context.operand(0);
  for (std::size_t i = 1; i < context.operands.size(); ++i)
    result = apply(fn, {result, context.operand(i)});
  return result;
}

}  // namespace

void register_elementwise_variadic(OpRegistry& registry) {
  const auto add = [&](const char* type, const char* onnx_type, Fn fn) {
    registry.add(elementwise(type, onnx_type,
                             [fn](const FormulaContext& context) { return fold(context, fn); }));
  };
  add("Maximum", "Max", Fn::kMax);
  add("Minimum", "Min", Fn::kMin);
  add("AddN", "Sum", Fn::kAdd);
  registry.add(elementwise("MeanN", "Mean", [](const FormulaContext& context) {
    const Formula sum = fold(context, Fn::kAdd);
    return sum / sum.like(static_cast<double>(context.operands.size()));
  }));
}

}  // namespace aoe::reference
