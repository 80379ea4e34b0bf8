// Any number of tensors to one, with broadcasting: Max, Min, Sum, Mean.
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

/// One behind the other; very many in halves, as whoever walks over a formula goes as deep as it is.
Formula fold(const FormulaContext& context, Fn fn, std::size_t begin, std::size_t end) {
  constexpr std::size_t kMostInARow = 256;
  if (end - begin > kMostInARow) {
    const std::size_t middle = begin + (end - begin) / 2;
    return apply(fn, {fold(context, fn, begin, middle), fold(context, fn, middle, end)});
  }
  Formula result = context.operand(begin);
  for (std::size_t i = begin + 1; i < end; ++i) result = apply(fn, {result, context.operand(i)});
  return result;
}

Formula fold(const FormulaContext& context, Fn fn) {
  return fold(context, fn, 0, context.operands.size());
}

}  // namespace

void register_elementwise_variadic(OpRegistry& registry) {
  const auto add = [&](const char* type, const char* onnx_type, OpSignature signature, Fn fn) {
    registry.add(elementwise(type, onnx_type, std::move(signature),
                             [fn](const FormulaContext& context) { return fold(context, fn); }));
  };
  add("Maximum", "Max", {"n1*"}, Fn::kMax);
  add("Minimum", "Min", {"n1*"}, Fn::kMin);
  add("AddN", "Sum", {"f1*"}, Fn::kAdd);
  registry.add(elementwise("MeanN", "Mean", {"f1*"}, [](const FormulaContext& context) {
    const Formula sum = fold(context, Fn::kAdd);
    return sum / sum.like(static_cast<double>(context.operands.size()));
  }));
}

}  // namespace aoe::reference
