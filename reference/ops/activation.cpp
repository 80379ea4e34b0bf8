// Activations of one tensor: Relu, Sigmoid, Elu, LeakyRelu, HardSwish, Gelu, ...
#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

template <typename T>
T softplus(T x) {
  return std::max(x, T{0}) +
         std::log1p(std::exp(-std::abs(x)));  // exp() of a large x would overflow
}

template <typename T>
T gelu(T x) {
  return x * (1 + std::erf(x / std::numbers::sqrt2_v<T>)) / 2;
}

template <typename T>
T gelu_tanh(T x) {
  const T scale = std::sqrt(2 / std::numbers::pi_v<T>);
  return x * (1 + std::tanh(scale * (x + T(0.044715) * x * x * x))) / 2;
}

auto make_gelu(const Attrs& attrs) {
  const std::string approximate = attrs.get_string("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    fail_model("attribute 'approximate' is '" + approximate + "', expected none or tanh");
  return [is_tanh = approximate == "tanh"](auto x) { return is_tanh ? gelu_tanh(x) : gelu(x); };
}

auto make_shrink(const Attrs& attrs) {
  return [bias = attrs.get_float("bias", 0), lambda = attrs.get_float("lambd", 0.5f)](auto x) {
    using T = decltype(x);
    using Wide = std::conditional_t<std::is_integral_v<T>, double, T>;
    const auto wide = static_cast<Wide>(x);
    if (wide < -lambda) return convert<T>(wide + bias);
    return wide > lambda ? convert<T>(wide - bias) : T{0};
  };
}

void register_without_attributes(OpRegistry& registry) {
  registry.add(
      unary<NumericTypes>("Relu", "Relu", [](auto x) { return x < 0 ? decltype(x){0} : x; }));
  registry.add(
      unary<FloatTypes>("Sigmoid", "Sigmoid", [](auto x) { return 1 / (1 + std::exp(-x)); }));
  registry.add(unary<FloatTypes>("Softplus", "Softplus", [](auto x) { return softplus(x); }));
  registry.add(
      unary<FloatTypes>("Softsign", "Softsign", [](auto x) { return x / (1 + std::abs(x)); }));
  registry.add(
      unary<FloatTypes>("Mish", "Mish", [](auto x) { return x * std::tanh(softplus(x)); }));
  registry.add(unary<FloatTypes>("HardSwish", "HardSwish", [](auto x) {
    using T = decltype(x);
    return x * std::clamp(x / 6 + T(0.5), T{0}, T{1});
  }));
}

}  // namespace

void register_activation(OpRegistry& registry) {
  register_without_attributes(registry);
  registry.add(activation<FloatTypes>("Elu", "Elu", [](const Attrs& attrs) {
    return
        [alpha = attrs.get_float("alpha", 1)](auto x) { return x < 0 ? alpha * std::expm1(x) : x; };
  }));
  registry.add(activation<FloatTypes>("CeluV2", "Celu", [](const Attrs& attrs) {
    return [alpha = attrs.get_float("alpha", 1)](auto x) {
      return x < 0 ? alpha * std::expm1(x / alpha) : x;
    };
  }));
  registry.add(activation<FloatTypes>("Selu", "Selu", [](const Attrs& attrs) {
    return [alpha = attrs.get_float("alpha", 1.67326319217681884765625f),
            gamma = attrs.get_float("gamma", 1.05070102214813232421875f)](auto x) {
      return gamma * (x < 0 ? alpha * std::expm1(x) : x);
    };
  }));
  registry.add(activation<FloatTypes>("LeakyRelu", "LeakyRelu", [](const Attrs& attrs) {
    return [alpha = attrs.get_float("alpha", 0.01f)](auto x) { return x < 0 ? alpha * x : x; };
  }));
  registry.add(activation<FloatTypes>("ThresholdedRelu", "ThresholdedRelu", [](const Attrs& attrs) {
    return [alpha = attrs.get_float("alpha", 1)](auto x) { return x > alpha ? x : decltype(x){0}; };
  }));
  registry.add(activation<FloatTypes>("HardSigmoid", "HardSigmoid", [](const Attrs& attrs) {
    return [alpha = attrs.get_float("alpha", 0.2f), beta = attrs.get_float("beta", 0.5f)](auto x) {
      using T = decltype(x);
      return std::clamp(alpha * x + beta, T{0}, T{1});
    };
  }));
  registry.add(activation<NumericTypes>("Shrink", "Shrink", make_shrink));
  registry.add(activation<FloatTypes>("Gelu", "Gelu", make_gelu));
}

}  // namespace aoe::reference
