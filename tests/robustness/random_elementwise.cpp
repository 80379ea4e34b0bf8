// Elementwise operators, with broadcasting.
#include "tests/robustness/random_nodes.h"

namespace aoe::tests {
namespace {

void add_unary(ModelDraw& d) {
  static const Strings kSmooth = {"Sigmoid", "Tanh",      "Erf",       "Sin",        "Cos", "Atan",
                                  "Asinh",   "Softplus",  "Softsign",  "Mish",       "Elu", "Celu",
                                  "Selu",    "LeakyRelu", "HardSwish", "HardSigmoid"};
  static const Strings kExactly = {"Relu", "Abs", "Neg", "Identity"};
  static const Strings kJumps = {"Floor", "Ceil", "Round", "Sign", "ThresholdedRelu", "Shrink"};
  static const Strings kOpen = {"Exp",  "Log",  "Sqrt", "Reciprocal", "Tan",  "Asin",
                                "Acos", "Sinh", "Cosh", "Acosh",      "Atanh"};
  switch (d.below(5)) {
    case 0:
    case 1:
      return void(d.add(d.pick(kSmooth), {d.value({.types = one_of(d, kFloats)})}));
    case 2:
      return void(d.add(d.pick(kExactly), {d.value({.types = one_of(d, kFloats)})}, {}, 1,
                        Exactness::kExact));
    case 3:
      return void(
          d.add(d.pick(kJumps), {d.value({.types = one_of(d, kFloats), .is_exact = true})}));
    default:
      return void(d.add(d.pick(kOpen), {d.value({.types = one_of(d, kFloats), .is_exact = true})},
                        {}, 1, Exactness::kWild));
  }
}

void add_binary(ModelDraw& d) {
  static const Strings kExactly = {"Add", "Sub", "Max", "Min"};
  const Id a = d.value({.types = one_of(d, kNumbers)});
  const Id b = d.one_in(3) ? d.value({.types = {d.dtype_of(a)}})
                           : d.fresh(d.dtype_of(a), d.broadcastable(d.shape_of(a)));
  const std::vector<Id> inputs = d.one_in(2) ? std::vector{a, b} : std::vector{b, a};
  switch (d.below(6)) {
    case 0:
      return void(d.add("Mul", inputs));
    case 1:
      if (!is_floating(d.dtype_of(a))) {
        const Id divisor = d.numbers(d.dtype_of(a), d.broadcastable(d.shape_of(a)), 1, 3);
        return void(d.add("Div", {a, divisor}, {}, 1, Exactness::kExact));
      }
      return void(d.add("Div", inputs, {}, 1, Exactness::kWild));
    case 2:
      return void(d.add("PRelu", {a, b}));
    case 3:
      return void(d.add(d.pick(Strings{"Sum", "Mean"}), inputs));
    default:
      return void(d.add(d.pick(kExactly), inputs, {}, 1, Exactness::kExact));
  }
}

void add_comparison(ModelDraw& d) {
  if (d.one_in(4)) {
    const Id a = d.value({.types = {DataType::kBool}});
    if (d.one_in(3)) return void(d.add("Not", {a}, {}, 1, Exactness::kExact));
    const Id b = d.fresh(DataType::kBool, d.broadcastable(d.shape_of(a)));
    return void(d.add(d.pick(Strings{"And", "Or", "Xor"}), {a, b}, {}, 1, Exactness::kExact));
  }
  const Id a = d.value({.types = one_of(d, kNumbers), .is_exact = true});
  if (d.one_in(6)) return void(d.add("IsNaN", {a}, {}, 1, Exactness::kExact));
  const Id b = d.fresh(d.dtype_of(a), d.broadcastable(d.shape_of(a)));
  static const Strings kAll = {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"};
  d.add(d.pick(kAll), {a, b}, {}, 1, Exactness::kExact);
}

void add_where(ModelDraw& d) {
  const Id a = d.value({.types = one_of(d, kAny)});
  const Id b = d.fresh(d.dtype_of(a), d.broadcastable(d.shape_of(a)));
  const Id condition = d.fresh(DataType::kBool, d.broadcastable(d.shape_of(a)));
  d.add("Where", {condition, a, b}, {}, 1, Exactness::kExact);
}

void add_clip(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kNumbers)});
  const DataType dtype = d.dtype_of(x);
  Attrs attrs;
  std::vector<Id> inputs = {x};
  if (d.opset() < 11) {
    attrs.set("min", -0.5f), attrs.set("max", 1.0f);
  } else {
    inputs.push_back(d.one_in(3) ? kAbsent : d.numbers(dtype, {}, 0, 0));
    inputs.push_back(d.one_in(3)   ? kAbsent
                     : d.one_in(3) ? d.fresh(dtype, {}, false)
                                   : d.numbers(dtype, {}, 1, 1));
  }
  d.add("Clip", inputs, attrs, 1, Exactness::kExact);
}

void add_integers(ModelDraw& d) {
  const Id a = d.value({.types = one_of(d, kIntegers)});
  const DataType dtype = d.dtype_of(a);
  const Id b = d.fresh(dtype, d.broadcastable(d.shape_of(a)));
  Attrs attrs;
  switch (d.below(4)) {
    case 0:
      if (d.one_in(4)) return void(d.add("BitwiseNot", {a}, {}, 1, Exactness::kExact));
      return void(d.add(d.pick(Strings{"BitwiseAnd", "BitwiseOr", "BitwiseXor"}), {a, b}, {}, 1,
                        Exactness::kExact));
    case 1: {
      if (is_signed(dtype)) return;
      attrs.set("direction", d.pick(Strings{"LEFT", "RIGHT"}));
      const Id by = d.numbers(dtype, d.broadcastable(d.shape_of(a)), 0, 7);
      return void(d.add("BitShift", {a, by}, attrs, 1, Exactness::kExact));
    }
    case 2: {
      const bool is_negative = is_signed(dtype) && d.one_in(2);
      const Id divisor = d.numbers(dtype, d.broadcastable(d.shape_of(a)), is_negative ? -5 : 1,
                                   is_negative ? -1 : 5);
      if (d.one_in(2)) return void(d.add("Div", {a, divisor}, {}, 1, Exactness::kExact));
      if (d.one_in(2)) attrs.set("fmod", d.below(2));
      return void(d.add("Mod", {a, divisor}, attrs, 1, Exactness::kExact));
    }
    default:
      if (d.one_in(3))
        return void(d.add(d.pick(Strings{"Abs", "Sign"}), {a}, {}, 1, Exactness::kExact));
      return void(d.add(d.pick(Strings{"Add", "Sub", "Mul", "Max", "Min"}), {a, b}, {}, 1,
                        Exactness::kExact));
  }
}

/// Of any number of operands, or newer.
void add_late(ModelDraw& d) {
  const Id a = d.value({.types = one_of(d, kFloats)});
  const Id b = d.fresh(d.dtype_of(a), d.broadcastable(d.shape_of(a)));
  const Id c = d.fresh(d.dtype_of(a), d.broadcastable(d.shape_of(a)));
  switch (d.below(5)) {
    case 0:
      return void(d.add(d.pick(Strings{"Max", "Min"}), {a, b, c}, {}, 1, Exactness::kExact));
    case 1:
      return void(d.add(d.pick(Strings{"Sum", "Mean"}), {a, b, c}));
    case 2:
      return void(d.add("Pow", {a, d.scalar(d.dtype_of(a), static_cast<double>(d.between(1, 3)))}));
    case 3:
      return void(d.add(d.pick(Strings{"Gelu", "Swish"}), {a}));
    default:
      return void(d.add("IsInf", {d.value({.is_exact = true})}, {}, 1, Exactness::kExact));
  }
}

void add_cast(ModelDraw& d) {
  Attrs attrs;
  attrs.set("to", d.pick(Ints{1, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11}));
  d.add("Cast", {d.value({.types = one_of(d, kAny), .is_exact = true})}, attrs, 1,
        Exactness::kExact);
}

}  // namespace

std::vector<NodeDrawer> elementwise_drawers() {
  return {add_unary, add_unary, add_binary, add_binary,   add_comparison,
          add_where, add_clip,  add_cast,   add_integers, add_late};
}

}  // namespace aoe::tests
