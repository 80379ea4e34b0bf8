// Unary mathematics without attributes: Abs, Exp, Sqrt, the trigonometric family, rounding, Sign,
// Not, IsNaN, ...
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

template <typename T>
T negate(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(x));
  else
    return -x;
}

template <typename T>
T absolute(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::abs(x);
  else
    return x < T{0} ? negate(x) : x;
}

template <typename T>
T sign_of(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return x;
  }
  return static_cast<T>((T{0} < x) - (x < T{0}));
}

template <typename T>
T sigmoid(T x) {
  return T{1} / (T{1} + std::exp(-x));
}

template <typename T>
T softplus(T x) {
  return std::max(x, T{0}) + std::log1p(std::exp(-std::abs(x)));  // no overflow for large x
}

/// x -> bool.
template <typename Types, typename F>
OpDef predicate(std::string type, std::string onnx_type, F f) {
  OpDef def{.type = std::move(type), .onnx_type = std::move(onnx_type)};
  def.infer = [](const InferContext& ctx) -> std::vector<TensorDesc> {
    return {{.dtype = DataType::kBool, .shape = ctx.shape(0)}};
  };
  def.compute = [f](const OpContext& ctx) {
    visit_type<Types>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
      const auto test = f(ctx.attrs);
      for (std::int64_t i = 0; i < ctx.outputs[0].elements(); ++i)
        ctx.outputs[0].as<bool>()[i] = test(static_cast<ComputeType<T>>(ctx.inputs[0].as<T>()[i]));
    });
  };
  return def;
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

void register_logic(OpRegistry& registry) {
  registry.add(predicate<TypeList<bool>>("LogicalNot", "Not",
                                         [](const Attrs&) { return [](bool x) { return !x; }; }));
  registry.add(predicate<FloatTypes>(
      "IsNan", "IsNaN", [](const Attrs&) { return [](auto x) { return std::isnan(x); }; }));
  registry.add(predicate<FloatTypes>("IsInf", "IsInf", [](const Attrs& attrs) {
    const bool positive = attrs.get_int("detect_positive", 1) != 0;
    const bool negative = attrs.get_int("detect_negative", 1) != 0;
    return [=](auto x) { return std::isinf(x) && (x > 0 ? positive : negative); };
  }));

  OpDef bitwise_not = unary<IntTypes>("BitwiseNot", "BitwiseNot", [](auto x) { return ~x; });
  bitwise_not.is_elementwise = false;  // epilogues are about numbers
  registry.add(std::move(bitwise_not));
}

}  // namespace

void register_elementwise_unary(OpRegistry& registry) {
  registry.add(unary<NumericTypes>("Abs", "Abs", [](auto x) { return absolute(x); }));
  registry.add(unary<NumericTypes>("Neg", "Neg", [](auto x) { return negate(x); }));
  registry.add(unary<NumericTypes>("Sign", "Sign", [](auto x) { return sign_of(x); }));
  registry.add(
      unary<FloatTypes>("Reciprocal", "Reciprocal", [](auto x) { return decltype(x){1} / x; }));
  registry.add(unary<FloatTypes>("Sqrt", "Sqrt", [](auto x) { return std::sqrt(x); }));
  registry.add(unary<FloatTypes>("Exp", "Exp", [](auto x) { return std::exp(x); }));
  registry.add(unary<FloatTypes>("Log", "Log", [](auto x) { return std::log(x); }));
  registry.add(unary<FloatTypes>("Erf", "Erf", [](auto x) { return std::erf(x); }));
  registry.add(unary<FloatTypes>("Floor", "Floor", [](auto x) { return std::floor(x); }));
  registry.add(unary<FloatTypes>("Ceil", "Ceil", [](auto x) { return std::ceil(x); }));
  // Halves go to the even neighbour: the processor's default rounding.
  registry.add(unary<FloatTypes>("Rint", "Round", [](auto x) { return std::nearbyint(x); }));
  registry.add(unary<FloatTypes>("Sigmoid", "Sigmoid", [](auto x) { return sigmoid(x); }));
  registry.add(unary<FloatTypes>("Softplus", "Softplus", [](auto x) { return softplus(x); }));
  registry.add(unary<FloatTypes>("Softsign", "Softsign",
                                 [](auto x) { return x / (decltype(x){1} + std::abs(x)); }));
  registry.add(
      unary<FloatTypes>("Mish", "Mish", [](auto x) { return x * std::tanh(softplus(x)); }));
  registry.add(unary<FloatTypes>("HardSwish", "HardSwish", [](auto x) {
    using T = decltype(x);
    return x * std::max(T{0}, std::min(T{1}, x / T{6} + T{0.5}));
  }));
  register_trigonometry(registry);
  register_logic(registry);
}

}  // namespace aoe::reference
