// Unary mathematics without attributes: Abs, Exp, Sqrt, the trigonometric family, rounding, Sign,
// ...
#include <cmath>

#include "reference/arithmetic.h"
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

template <typename T>
T sign_of(T x) {
  if (is_nan(x)) return x;
  return static_cast<T>((T{0} < x) - (x < T{0}));
}

void register_trigonometry(OpRegistry& registry) {
  registry.add(unary<FloatTypes>("Sin", "Sin", [](auto x) { return std::sin(x); }));
  registry.add(unary<FloatTypes>("Cos", "Cos", [](auto x) { return std::cos(x); }));
  registry.add(unary<FloatTypes>("Tan", "Tan", [](auto x) { return std::tan(x); }));
  registry.add(unary<FloatTypes>("Asin", "Asin", [](auto x) { return std::asin(x); }));
  registry.add(unary<FloatTypes>("Acos", "Acos", [](auto x) { return std::acos(x); }));
  registry.add(unary<FloatTypes>("Atan", "Atan", [](auto x) { return std::atan(x); }));
  registry.add(unary<FloatTypes>("Sinh", "Sinh", [](auto x) { return std::sinh(x); }));
  registry.add(unary<FloatTypes>("Cosh", "Cosh", [](auto x) { return std::cosh(x); }));
  registry.add(unary<FloatTypes>("Tanh", "Tanh", [](auto x) { return std::tanh(x); }));
  registry.add(unary<FloatTypes>("Asinh", "Asinh", [](auto x) { return std::asinh(x); }));
  registry.add(unary<FloatTypes>("Acosh", "Acosh", [](auto x) { return std::acosh(x); }));
  registry.add(unary<FloatTypes>("Atanh", "Atanh", [](auto x) { return std::atanh(x); }));
}

}  // namespace

void register_elementwise_unary(OpRegistry& registry) {
  registry.add(unary<NumericTypes>("Abs", "Abs", [](auto x) { return absolute(x); }));
  registry.add(unary<NumericTypes>("Neg", "Neg", [](auto x) { return negate(x); }));
  registry.add(unary<NumericTypes>("Sign", "Sign", [](auto x) { return sign_of(x); }));
  registry.add(unary<FloatTypes>("Reciprocal", "Reciprocal", [](auto x) { return 1 / x; }));
  registry.add(unary<FloatTypes>("Sqrt", "Sqrt", [](auto x) { return std::sqrt(x); }));
  registry.add(unary<FloatTypes>("Exp", "Exp", [](auto x) { return std::exp(x); }));
  registry.add(unary<FloatTypes>("Log", "Log", [](auto x) { return std::log(x); }));
  registry.add(unary<FloatTypes>("Erf", "Erf", [](auto x) { return std::erf(x); }));
  registry.add(unary<FloatTypes>("Floor", "Floor", [](auto x) { return std::floor(x); }));
  registry.add(unary<FloatTypes>("Ceil", "Ceil", [](auto x) { return std::ceil(x); }));
  // Halves go to the even neighbour: the processor's default rounding.
  registry.add(unary<FloatTypes>("Rint", "Round", [](auto x) { return std::nearbyint(x); }));
  register_trigonometry(registry);

  OpDef bitwise_not = unary<IntTypes>("BitwiseNot", "BitwiseNot", [](auto x) { return ~x; });
  bitwise_not.is_elementwise = false;  // epilogues calculate with numbers, not with bits
  registry.add(std::move(bitwise_not));
}

}  // namespace aoe::reference
