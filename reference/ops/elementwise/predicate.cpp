// From one tensor to bool: Not, IsNaN, IsInf.
#include <limits>

#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

Formula is_infinite(const FormulaContext& context) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Formula x = context.operand(0);
  const bool positive = context.attrs.get_int("detect_positive", 1) != 0;
  const bool negative = context.attrs.get_int("detect_negative", 1) != 0;
  if (positive && negative) return apply(Fn::kAbs, {x}) == x.like(kInfinity);
  if (positive || negative) return x == x.like(positive ? kInfinity : -kInfinity);
  return x < x.like(-kInfinity);  // nothing is
}

}  // namespace

void register_predicate(OpRegistry& registry) {
  const auto add = [&](const char* type, const char* onnx_type, OpSignature signature,
                       FormulaFn formula) {
    registry.add(
        elementwise(type, onnx_type, std::move(signature), std::move(formula), infer_truth));
  };
  add("LogicalNot", "Not", {"b"},
      [](const FormulaContext& context) { return !context.operand(0); });
  add("IsNan", "IsNaN", {"f"},
      [](const FormulaContext& context) { return !(context.operand(0) == context.operand(0)); });
  add("IsInf", "IsInf", {"f", "detect_negative=0..1 detect_positive=0..1"}, is_infinite);
}

}  // namespace aoe::reference
