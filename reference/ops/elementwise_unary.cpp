// Unary mathematics without attributes: Abs, Exp, Sqrt, the trigonometric family, rounding, Sign,
// ...
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

void register_trigonometry(OpRegistry& registry) {
  registry.add(unary("Sin", "Sin", Fn::kSin));
  registry.add(unary("Cos", "Cos", Fn::kCos));
  registry.add(unary("Tan", "Tan", Fn::kTan));
  registry.add(unary("Asin", "Asin", Fn::kAsin));
  registry.add(unary("Acos", "Acos", Fn::kAcos));
  registry.add(unary("Atan", "Atan", Fn::kAtan));
  registry.add(unary("Sinh", "Sinh", Fn::kSinh));
  registry.add(unary("Cosh", "Cosh", Fn::kCosh));
  registry.add(unary("Tanh", "Tanh", Fn::kTanh));
  registry.add(unary("Asinh", "Asinh", Fn::kAsinh));
  registry.add(unary("Acosh", "Acosh", Fn::kAcosh));
  registry.add(unary("Atanh", "Atanh", Fn::kAtanh));
}

/// 0 and NaN stay.
Formula sign(const FormulaContext& context) {
  const Formula x = context.operand(0), zero = x.like(0);
  if (is_integer(x.type()) && !is_signed(x.type())) return select(zero < x, x.like(1), zero);
  return select(zero < x, x.like(1), select(x < zero, x.like(-1), x));
}

}  // namespace

void register_elementwise_unary(OpRegistry& registry) {
  using Context = const FormulaContext&;
  registry.add(unary("Abs", "Abs", Fn::kAbs));
  registry.add(unary("Neg", "Neg", Fn::kNeg));
  registry.add(elementwise("Sign", "Sign", sign, infer_like_first));
  registry.add(elementwise(
      "Reciprocal", "Reciprocal",
      [](Context context) { return context.operand(0).like(1) / context.operand(0); },
      infer_like_first));
  registry.add(unary("Sqrt", "Sqrt", Fn::kSqrt));
  registry.add(unary("Exp", "Exp", Fn::kExp));
  registry.add(unary("Log", "Log", Fn::kLog));
  registry.add(unary("Erf", "Erf", Fn::kErf));
  registry.add(unary("Floor", "Floor", Fn::kFloor));
  registry.add(elementwise(
      "Ceil", "Ceil", [](Context context) { return -apply(Fn::kFloor, {-context.operand(0)}); },
      infer_like_first));
  registry.add(unary("Rint", "Round", Fn::kRoundEven));  // halves go to the even neighbour
  register_trigonometry(registry);
  registry.add(unary("BitwiseNot", "BitwiseNot", Fn::kNot));
}

}  // namespace aoe::reference
