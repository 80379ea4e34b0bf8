// Unary mathematics without attributes: Abs, Exp, Sqrt, the trigonometric family, rounding, Sign,
// ...
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

void register_trigonometry(OpRegistry& registry) {
  registry.add(unary("Sin", "Sin", {"f"}, Fn::kSin));
  registry.add(unary("Cos", "Cos", {"f"}, Fn::kCos));
  registry.add(unary("Tan", "Tan", {"f"}, Fn::kTan));
  registry.add(unary("Asin", "Asin", {"f"}, Fn::kAsin));
  registry.add(unary("Acos", "Acos", {"f"}, Fn::kAcos));
  registry.add(unary("Atan", "Atan", {"f"}, Fn::kAtan));
  registry.add(unary("Sinh", "Sinh", {"f"}, Fn::kSinh));
  registry.add(unary("Cosh", "Cosh", {"f"}, Fn::kCosh));
  registry.add(unary("Tanh", "Tanh", {"f"}, Fn::kTanh));
  registry.add(unary("Asinh", "Asinh", {"f"}, Fn::kAsinh));
  registry.add(unary("Acosh", "Acosh", {"f"}, Fn::kAcosh));
  registry.add(unary("Atanh", "Atanh", {"f"}, Fn::kAtanh));
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
  registry.add(unary("Abs", "Abs", {"n"}, Fn::kAbs));
  registry.add(unary("Neg", "Neg", {"n"}, Fn::kNeg));
  registry.add(elementwise("Sign", "Sign", {"n"}, sign, infer_like_first));
  registry.add(elementwise(
      "Reciprocal", "Reciprocal", {"f"},
      [](Context context) { return context.operand(0).like(1) / context.operand(0); },
      infer_like_first));
  registry.add(unary("Sqrt", "Sqrt", {"f"}, Fn::kSqrt));
  registry.add(unary("Exp", "Exp", {"f"}, Fn::kExp));
  registry.add(unary("Log", "Log", {"f"}, Fn::kLog));
  registry.add(unary("Erf", "Erf", {"f"}, Fn::kErf));
  registry.add(unary("Floor", "Floor", {"f"}, Fn::kFloor));
  registry.add(elementwise(
      "Ceil", "Ceil", {"f"},
      [](Context context) { return -apply(Fn::kFloor, {-context.operand(0)}); }, infer_like_first));
  registry.add(unary("Rint", "Round", {"f"}, Fn::kRoundEven));  // halves go to the even neighbour
  register_trigonometry(registry);
  registry.add(unary("BitwiseNot", "BitwiseNot", {"i"}, Fn::kNot));
}

}  // namespace aoe::reference
