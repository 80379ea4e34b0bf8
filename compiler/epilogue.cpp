// See epilogue.h: one row per operator in emitters().
#include "compiler/epilogue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "reference/widen.h"

namespace aoe::compiler {
namespace {

using loopnest::Builder;
using loopnest::splat;
using loopnest::Vec;
using reference::Attrs;
using reference::EpilogueStep;
using reference::Operand;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// One step with its operands' values; absent operands are empty.
struct StepValues {
  const Attrs& attrs;
  std::vector<std::optional<Vec>> operands;
  std::vector<DataType> types;  ///< of operands that are inputs of the task
  int lanes;

  Vec operator[](std::size_t i) const { return operands[i].value(); }
  Vec constant(double value) const { return splat(static_cast<float>(value), lanes); }
  Vec attribute(const char* name, float fallback) const {
    return splat(attrs.get_float(name, fallback), lanes);
  }
};
using Emit = Vec (*)(Builder&, const StepValues&);

/// A value that is used several times: computed once, kept in a register.
Vec keep(Builder& builder, const Vec& value) {
  return builder.get(builder.local(value));
}

Vec clamp(const Vec& x, const Vec& low, const Vec& high) {
  return min(max(x, low), high);
}

/// e^x - 1 where x is negative, 0 elsewhere (NaN included: callers add or select x itself).
Vec negative_expm1(const StepValues& s, const Vec& x) {
  return exp(min(x, s.constant(0))) - s.constant(1);
}

Vec if_negative(const StepValues& s, const Vec& x, const Vec& then) {
  return select(x < s.constant(0), then, x);
}

Vec emit_clip(Builder&, const StepValues& s) {
  const auto bound = [&](std::size_t i, const char* attribute, float fallback) {
    if (i < s.operands.size() && s.operands[i]) return *s.operands[i];
    return s.attribute(attribute, fallback);  // bounds were attributes before opset 11
  };
  return clamp(s[0], bound(1, "min", -kInfinity), bound(2, "max", kInfinity));
}

Vec emit_gelu(Builder&, const StepValues& s) {
  const Vec x = s[0];
  if (s.attrs.get_string("approximate", "none") == "tanh") {
    const Vec cubic = fma(s.constant(0.044715) * x * x, x, x);
    const Vec inner = s.constant(std::sqrt(2 / M_PI)) * cubic;
    return s.constant(0.5) * x * (s.constant(1) + tanh(inner));
  }
  return s.constant(0.5) * x * (s.constant(1) + erf(x * s.constant(std::sqrt(0.5))));
}

/// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2); beyond 20 the factor is 1.
Vec emit_mish(Builder& builder, const StepValues& s) {
  const Vec e = keep(builder, exp(min(s[0], s.constant(20))));
  const Vec n = keep(builder, e * (e + s.constant(2)));
  return s[0] * (n / (n + s.constant(2)));
}

/// |x|^y by logarithm, with the sign that whole exponents give to negative x; NaN for others. The error grows with the
/// logarithm of the result: 1e-6 of it near 1, 4e-5 at the end of the range.
Vec emit_general_pow(Builder& builder, const Vec& x, const Vec& y) {
  const auto number = [&](float value) { return splat(value, x.lanes()); };
  const Vec size = keep(builder, exp(y * log(abs(x))));
  const Vec half = y * number(0.5f);
  const Vec of_negative = select(floor(y) == y, select(floor(half) == half, size, -size),
                                 number(std::numeric_limits<float>::quiet_NaN()));
  return select(y == number(0), number(1), select(x < number(0), of_negative, size));
}

/// Simple constant exponents need no logarithm.
bool is_simple_exponent(float exponent) {
  constexpr std::array kSimple = {0.0f, 0.5f, -0.5f, -1.0f, 1.0f, 2.0f, 3.0f, 4.0f};
  return std::find(kSimple.begin(), kSimple.end(), exponent) != kSimple.end();
}

Vec emit_pow(Builder& builder, const StepValues& s) {
  const Vec x = s[0];
  const bool is_simple =
      s[1].e->op == loopnest::Op::kFloatConst && is_simple_exponent(s[1].e->fvalue);
  if (!is_simple) return emit_general_pow(builder, x, keep(builder, s[1]));
  const float exponent = s[1].e->fvalue;
  if (exponent == 0.0f) return s.constant(1);
  if (exponent == 0.5f) return sqrt(x);
  if (exponent == -0.5f) return s.constant(1) / sqrt(x);
  if (exponent == -1.0f) return s.constant(1) / x;
  Vec power = x;
  for (int i = 1; i < static_cast<int>(exponent); ++i) power = power * x;
  return power;
}

template <Vec (*Combine)(Vec, Vec)>
Vec fold(Builder&, const StepValues& s) {
  Vec sum = s[0];
  for (std::size_t i = 1; i < s.operands.size(); ++i) sum = Combine(sum, s[i]);
  return sum;
}

template <Vec (*Function)(Vec)>
Vec apply(Builder&, const StepValues& s) {
  return Function(s[0]);
}

Vec add(Vec a, Vec b) {
  return a + b;
}

Vec mean(Builder& b, const StepValues& s) {
  return fold<add>(b, s) / s.constant(static_cast<double>(s.operands.size()));
}
Vec leaky_relu(Builder&, const StepValues& s) {
  return if_negative(s, s[0], s.attribute("alpha", 0.01f) * s[0]);
}
Vec thresholded_relu(Builder&, const StepValues& s) {
  return select(s.attribute("alpha", 1) < s[0], s[0], s.constant(0));
}
Vec hard_sigmoid(Builder&, const StepValues& s) {
  const Vec line = fma(s[0], s.attribute("alpha", 0.2f), s.attribute("beta", 0.5f));
  return clamp(line, s.constant(0), s.constant(1));
}
Vec hard_swish(Builder&, const StepValues& s) {
  return s[0] * clamp(s[0] / s.constant(6) + s.constant(0.5), s.constant(0), s.constant(1));
}
Vec elu(Builder&, const StepValues& s) {
  return if_negative(s, s[0], s.attribute("alpha", 1) * negative_expm1(s, s[0]));
}
Vec celu(Builder&, const StepValues& s) {
  const Vec alpha = s.attribute("alpha", 1);
  return if_negative(s, s[0], alpha * negative_expm1(s, s[0] / alpha));
}
Vec selu(Builder&, const StepValues& s) {
  const Vec negative = s.attribute("alpha", 1.6732632f) * negative_expm1(s, s[0]);
  return s.attribute("gamma", 1.0507010f) * if_negative(s, s[0], negative);
}
Vec softplus(Builder&, const StepValues& s) {
  return max(s[0], s.constant(0)) + log(s.constant(1) + exp(-abs(s[0])));
}
Vec sign(Builder&, const StepValues& s) {
  const Vec zero = s.constant(0);
  const Vec of_others = select(s[0] < zero, s.constant(-1), s[0]);  // 0 and NaN stay
  return select(zero < s[0], s.constant(1), of_others);
}
Vec softsign(Builder&, const StepValues& s) {
  return s[0] / (s.constant(1) + abs(s[0]));
}

/// In float32 like the reference, so that the integers are equal: the quotient, rounded half to even. A scale of 1 stands
/// where the scale is part of a multiplier before.
Vec emit_quantize(Builder&, const StepValues& s) {
  const bool is_scaled = !(s[1].e->op == loopnest::Op::kFloatConst && s[1].e->fvalue == 1.0f);
  const Vec whole = round_even(is_scaled ? s[0] / s[1] : s[0]) + s[2];
  const bool is_signed = s.types[2] == DataType::kInt8;
  return clamp(whole, s.constant(is_signed ? -128 : 0), s.constant(is_signed ? 127 : 255));
}

Vec emit_dequantize(Builder&, const StepValues& s) {
  return (s.operands.size() > 2 ? s[0] - s[2] : s[0]) * s[1];
}

const std::map<std::string_view, Emit>& emitters() {
  using S = const StepValues&;
  static const std::map<std::string_view, Emit> table = {
      {"Add", fold<add>},
      {"AddN", fold<add>},
      {"MeanN", mean},
      {"Sub", [](Builder&, S s) { return s[0] - s[1]; }},
      {"Mul", [](Builder&, S s) { return s[0] * s[1]; }},
      {"Div", [](Builder&, S s) { return s[0] / s[1]; }},
      {"Maximum", fold<loopnest::max>},
      {"Minimum", fold<loopnest::min>},
      {"Pow", emit_pow},
      {"Neg", [](Builder&, S s) { return -s[0]; }},
      {"Abs", apply<loopnest::abs>},
      {"Sign", sign},
      {"Sqrt", apply<loopnest::sqrt>},
      {"Exp", apply<loopnest::exp>},
      {"Log", apply<loopnest::log>},
      {"Tanh", apply<loopnest::tanh>},
      {"Erf", apply<loopnest::erf>},
      {"Floor", apply<loopnest::floor>},
      {"Ceil", [](Builder&, S s) { return -floor(-s[0]); }},
      {"Rint", apply<loopnest::round_even>},
      {"RoundToFloat16", [](Builder&, S s) { return low_f16(pair_f16(s[0])); }},
      {"Reciprocal", [](Builder&, S s) { return s.constant(1) / s[0]; }},
      {"Relu", [](Builder&, S s) { return max(s[0], s.constant(0)); }},
      {"LeakyRelu", leaky_relu},
      {"PRelu", [](Builder&, S s) { return if_negative(s, s[0], s[1] * s[0]); }},
      {"ThresholdedRelu", thresholded_relu},
      {"ClipByValue", emit_clip},
      {"Sigmoid", [](Builder&, S s) { return s.constant(1) / (s.constant(1) + exp(-s[0])); }},
      {"HardSigmoid", hard_sigmoid},
      {"HardSwish", hard_swish},
      {"Elu", elu},
      {"CeluV2", celu},
      {"Selu", selu},
      {"Softplus", softplus},
      {"Softsign", softsign},
      {"Mish", emit_mish},
      {"Gelu", emit_gelu},
      {"Quantize", emit_quantize},
      {"Dequantize", emit_dequantize},
  };
  return table;
}

/// Quantize and Dequantize with one scale and zero point for all.
Result<void> supports_scale(const Task& task, const EpilogueStep& step) {
  if (step.type == "Quantize" && step.operands.size() < 3) return Unexpected("no zero point");
  for (std::size_t i = 1; i < step.operands.size(); ++i) {
    const Operand& operand = step.operands[i];
    if (operand.kind != Operand::Kind::kInput ||
        !scalar_constant(task.inputs[static_cast<std::size_t>(operand.index)])) {
      return Unexpected(step.type + " whose scale and zero point are not one constant each");
    }
  }
  return {};
}

Result<void> supports_step(const Task& task, const EpilogueStep& step) {
  if (!emitters().contains(step.type)) return Unexpected("no vector form of " + step.type);
  const bool has_scale = step.type == "Quantize" || step.type == "Dequantize";
  if (has_scale) {
    if (Result<void> supported = supports_scale(task, step); !supported) return supported;
  }
  for (const Operand& operand : step.operands) {
    if (operand.kind != Operand::Kind::kInput) continue;
    const TaskInput& input = task.inputs[static_cast<std::size_t>(operand.index)];
    const EpilogueTypes types = has_scale ? EpilogueTypes::kBytes : EpilogueTypes::kFloat;
    if (input.is_present() && !is_epilogue_type(input.desc.dtype, types)) {
      return Unexpected(step.type + " of " + to_string(input.desc) + ", needs float32" +
                        (has_scale ? ", int8 or uint8" : ""));
    }
  }
  return {};
}

Vec emit_steps(Builder& builder, const Task& task, const std::optional<Vec>& anchor, int lanes,
               const LoadInput& load) {
  std::map<int, Vec> inputs;
  const auto input_value = [&](int i) -> std::optional<Vec> {
    const TaskInput& input = task.inputs[static_cast<std::size_t>(i)];
    if (!input.is_present()) return {};
    if (const auto scalar = scalar_constant(input)) return splat(*scalar, lanes);
    const auto known = inputs.find(i);
    if (known != inputs.end()) return known->second;
    return inputs.emplace(i, keep(builder, load(i))).first->second;
  };
  std::vector<Vec> steps;
  for (const EpilogueStep& step : task.op.epilogue) {
    StepValues values{.attrs = step.attrs, .operands = {}, .types = {}, .lanes = lanes};
    for (const Operand& operand : step.operands) {
      const bool is_input = operand.kind == Operand::Kind::kInput;
      values.types.push_back(is_input ? task.in(static_cast<std::size_t>(operand.index)).dtype
                                      : DataType::kUndefined);
      switch (operand.kind) {
        case Operand::Kind::kAnchor:
          values.operands.push_back(anchor);
          break;
        case Operand::Kind::kInput:
          values.operands.push_back(input_value(operand.index));
          break;
        case Operand::Kind::kStep:
          values.operands.push_back(steps.at(static_cast<std::size_t>(operand.index)));
          break;
      }
    }
    steps.push_back(keep(builder, emitters().at(step.type)(builder, values)));
  }
  return steps.back();
}

}  // namespace

std::optional<float> scalar_constant(const TaskInput& input) {
  if (!input.constant || element_count(input.desc.shape) != 1) return {};
  if (!is_epilogue_type(input.desc.dtype, EpilogueTypes::kBytes)) return {};
  return static_cast<float>(reference::to_double(input.constant->view()));
}

bool is_epilogue_type(DataType dtype, EpilogueTypes types) {
  const bool is_byte = dtype == DataType::kInt8 || dtype == DataType::kUint8;
  return dtype == DataType::kFloat || (types == EpilogueTypes::kBytes && is_byte);
}

Result<void> supports_epilogue(const Task& task) {
  for (const EpilogueStep& step : task.op.epilogue) {
    if (auto supported = supports_step(task, step); !supported) return supported;
  }
  return {};
}

Vec emit_epilogue(Builder& builder, const Task& task, Vec anchor, const LoadInput& load) {
  if (task.op.epilogue.empty()) return anchor;
  return emit_steps(builder, task, keep(builder, anchor), anchor.lanes(), load);
}

Vec emit_elementwise(Builder& builder, const Task& task, int lanes, const LoadInput& load) {
  AOE_CHECK(!task.op.epilogue.empty(), task.op.type + " has no steps");
  return emit_steps(builder, task, {}, lanes, load);
}

}  // namespace aoe::compiler
