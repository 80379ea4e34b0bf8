// Activations of one tensor: Relu, Sigmoid, Elu, LeakyRelu, HardSwish, Gelu, ...
#include <cmath>
#include <numbers>

#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

/// An activation is a formula of one operand.
void add(OpRegistry& registry, const char* name, const char* onnx_name, OpSignature signature,
         FormulaFn formula) {
  registry.add(
      elementwise(name, onnx_name, std::move(signature), std::move(formula), infer_like_first));
}

Formula attribute(const FormulaContext& context, const char* name, float fallback) {
  return context.operand(0).like(context.attrs.get_float(name, fallback));
}

Formula clamp(const Formula& x, double low, double high) {
  return min(max(x, x.like(low)), x.like(high));
}

/// e^x - 1 where x is negative, 0 elsewhere (NaN included: callers choose x itself there).
Formula negative_expm1(const Formula& x) {
  return apply(Fn::kExpm1, {min(x, x.like(0))});
}

Formula if_negative(const Formula& x, const Formula& then) {
  return select(x < x.like(0), then, x);
}

Formula softplus(const FormulaContext& context) {
  const Formula x = context.operand(0);
  const Formula size = apply(Fn::kAbs, {x});  // exp() of a large x would overflow
  return max(x, x.like(0)) + apply(Fn::kLog1p, {apply(Fn::kExp, {-size})});
}

/// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2); beyond 20 the factor is 1.
Formula mish(const FormulaContext& context) {
  const Formula x = context.operand(0);
  const Formula e = apply(Fn::kExp, {min(x, x.like(20))});
  const Formula n = e * (e + x.like(2));
  return x * (n / (n + x.like(2)));
}

Formula gelu(const FormulaContext& context) {
  const std::string approximate = context.attrs.get_string("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    fail_model("attribute 'approximate' is '" + approximate + "', expected none or tanh");
  const Formula x = context.operand(0);
  if (approximate == "tanh") {
    const Formula cubic = fma(x.like(0.044715) * x * x, x, x);
    const Formula inner = x.like(std::sqrt(2 / std::numbers::pi)) * cubic;
    return x.like(0.5) * x * (x.like(1) + apply(Fn::kTanh, {inner}));
  }
  return x.like(0.5) * x * (x.like(1) + apply(Fn::kErf, {x * x.like(std::sqrt(0.5))}));
}

/// Integers by way of floating point, as the attributes are.
Formula shrink(const FormulaContext& context) {
  const DataType type = context.operand(0).type();
  const bool is_narrow = is_integer(type) && size_bytes(type) <= 2;
  const DataType real = is_narrow ? DataType::kFloat : is_floating(type) ? type : DataType::kDouble;
  const Formula x = convert(context.operand(0), real);
  const Formula bias = x.like(context.attrs.get_float("bias", 0));
  const Formula lambda = x.like(context.attrs.get_float("lambd", 0.5f));
  const Formula above = select(lambda < x, x - bias, x.like(0));
  return convert(select(x < -lambda, x + bias, above), type);
}

void register_without_attributes(OpRegistry& registry) {
  using Context = const FormulaContext&;
  add(registry, "Relu", "Relu", {"n"}, [](Context context) {
    const Formula x = context.operand(0);
    return max(x, x.like(0));
  });
  add(registry, "Sigmoid", "Sigmoid", {"f"}, [](Context context) {
    const Formula x = context.operand(0);
    return x.like(1) / (x.like(1) + apply(Fn::kExp, {-x}));
  });
  add(registry, "Softplus", "Softplus", {"f"}, softplus);
  add(registry, "Softsign", "Softsign", {"f"}, [](Context context) {
    const Formula x = context.operand(0);
    return x / (x.like(1) + apply(Fn::kAbs, {x}));
  });
  add(registry, "Mish", "Mish", {"f"}, mish);
  add(registry, "HardSwish", "HardSwish", {"f"}, [](Context context) {
    const Formula x = context.operand(0);
    return x * clamp(x / x.like(6) + x.like(0.5), 0, 1);
  });
}

void register_exponential(OpRegistry& registry) {
  using Context = const FormulaContext&;
  add(registry, "Elu", "Elu", {"f", "alpha=float"}, [](Context context) {
    const Formula x = context.operand(0);
    return if_negative(x, attribute(context, "alpha", 1) * negative_expm1(x));
  });
  add(registry, "CeluV2", "Celu", {"f", "alpha=float"}, [](Context context) {
    const Formula x = context.operand(0), alpha = attribute(context, "alpha", 1);
    return if_negative(x, alpha * negative_expm1(x / alpha));
  });
  add(registry, "Selu", "Selu", {"f", "alpha=float gamma=float"}, [](Context context) {
    const Formula x = context.operand(0);
    const Formula alpha = attribute(context, "alpha", 1.67326319217681884765625f);
    const Formula gamma = attribute(context, "gamma", 1.05070102214813232421875f);
    return gamma * if_negative(x, alpha * negative_expm1(x));
  });
}

}  // namespace

void register_activation(OpRegistry& registry) {
  using Context = const FormulaContext&;
  register_without_attributes(registry);
  register_exponential(registry);
  add(registry, "LeakyRelu", "LeakyRelu", {"f", "alpha=float"}, [](Context context) {
    const Formula x = context.operand(0);
    return if_negative(x, attribute(context, "alpha", 0.01f) * x);
  });
  add(registry, "ThresholdedRelu", "ThresholdedRelu", {"f", "alpha=float"}, [](Context context) {
    const Formula x = context.operand(0);
    return select(attribute(context, "alpha", 1) < x, x, x.like(0));
  });
  add(registry, "HardSigmoid", "HardSigmoid", {"f", "alpha=float beta=float"}, [](Context context) {
    const Formula x = context.operand(0);
    const Formula alpha = attribute(context, "alpha", 0.2f);
    return clamp(fma(x, alpha, attribute(context, "beta", 0.5f)), 0, 1);
  });
  add(registry, "Swish", "Swish", {"f", "alpha=float"}, [](Context context) {
    const Formula x = context.operand(0);
    return x / (x.like(1) + apply(Fn::kExp, {-(attribute(context, "alpha", 1) * x)}));
  });
  add(registry, "Shrink", "Shrink", {"n", "bias=float lambd=float"}, shrink);
  add(registry, "Gelu", "Gelu", {"f", "approximate=none|tanh"}, gelu);
}

}  // namespace aoe::reference
