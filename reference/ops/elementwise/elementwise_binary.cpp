// Binary mathematics with broadcasting: Add, Sub, Mul, Div, Mod, Pow, PRelu, and the operations on
// bits.
#include <cmath>

#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

using Context = const FormulaContext&;
using F = const Formula&;

/// The remainder with the sign of the divisor, as Python has it, or of the dividend, as C has it.
Formula mod(Context context, F a, F b) {
  const Formula remainder = apply(Fn::kRemainder, {a, b});
  if (context.attrs.get_int("fmod", 0) != 0) return remainder;
  const Formula zero = a.like(0);
  const Formula differs = (remainder < zero) ^ (b < zero);
  return select((!(remainder == zero)) & differs, remainder + b, remainder);
}

/// x * x * ... in the order of the plainest loop; whole exponents of integers by squaring.
Formula whole_power(F x, double exponent) {
  if (exponent == 0) return x.like(1);
  Formula power = x;
  if (is_floating(x.type())) {
    for (int i = 1; i < static_cast<int>(exponent); ++i) power = power * x;
    return power;
  }
  const Formula half = whole_power(x, std::floor(exponent / 2));
  if (exponent == 1) return x;
  return std::fmod(exponent, 2) == 0 ? half * half : half * half * x;
}

/// Small whole exponents, and square roots, need no logarithm when they are known.
std::optional<Formula> simple_power(F x, double exponent) {
  const bool is_whole = exponent >= 0 && exponent == std::floor(exponent);
  if (is_integer(x.type())) {
    if (is_whole && exponent < 0x1p53) return whole_power(x, exponent);
    return {};
  }
  if (is_whole && exponent <= 4) return whole_power(x, exponent);
  if (std::fabs(exponent) == 0.5) {
    // A power of -0 is +0 or positive infinity, its square root -0: adding 0 makes it +0.
    const Formula root = apply(Fn::kSqrt, {x + x.like(0)});
    return exponent > 0 ? root : x.like(1) / root;
  }
  if (exponent == -1) return x.like(1) / x;
  return {};
}

/// The exponent has a type of its own; as float64 it is exact for all that matter.
Formula power(Context, F x, F exponent) {
  if (exponent->fn == Fn::kNumber)
    if (const auto simple = simple_power(x, exponent->number)) return *simple;
  return pow(
      x, convert(exponent, x.type() == DataType::kFloat ? DataType::kFloat : DataType::kDouble));
}

OpDef pow_def() {
  return binary(
      "Pow", "Pow", {"n n"}, power, [](const InferContext& ctx) -> std::vector<TensorDesc> {
        return {{.dtype = ctx.dtype(0), .shape = broadcast_shapes(ctx.shape(0), ctx.shape(1))}};
      });
}

OpDef prelu_def() {
  return binary(
      "PRelu", "PRelu", {"n1 n1"},
      [](Context, F x, F slope) { return select(x < x.like(0), slope * x, x); },
      [](const InferContext& ctx) -> std::vector<TensorDesc> {
        if (!broadcasts_to(ctx.shape(1), ctx.shape(0)))
          fail_model("slope " + to_string(ctx.shape(1)) + " does not stretch to " +
                     to_string(ctx.shape(0)));
        return {{.dtype = common_dtype(ctx), .shape = ctx.shape(0)}};
      });
}

Formula bit_shift(Context context, F x, F distance) {
  const std::string direction = context.attrs.get_string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    fail_model("attribute 'direction' is '" + direction + "', expected LEFT or RIGHT");
  return apply(direction == "LEFT" ? Fn::kShiftLeft : Fn::kShiftRight, {x, distance});
}

}  // namespace

void register_elementwise_binary(OpRegistry& registry) {
  registry.add(binary("Add", "Add", {"n1 n1"}, [](Context, F a, F b) { return a + b; }));
  registry.add(binary("Sub", "Sub", {"n1 n1"}, [](Context, F a, F b) { return a - b; }));
  registry.add(binary("Mul", "Mul", {"n1 n1"}, [](Context, F a, F b) { return a * b; }));
  registry.add(binary("Div", "Div", {"n1 n1"}, [](Context, F a, F b) { return a / b; }));
  registry.add(binary("Mod", "Mod", {"n1 n1", "fmod=0..1"}, mod));
  registry.add(pow_def());
  registry.add(prelu_def());
  registry.add(binary("BitShift", "BitShift", {"u1 u1", "!direction=LEFT|RIGHT"}, bit_shift));
  registry.add(
      binary("BitwiseAnd", "BitwiseAnd", {"i1 i1"}, [](Context, F a, F b) { return a & b; }));
  registry.add(
      binary("BitwiseOr", "BitwiseOr", {"i1 i1"}, [](Context, F a, F b) { return a | b; }));
  registry.add(
      binary("BitwiseXor", "BitwiseXor", {"i1 i1"}, [](Context, F a, F b) { return a ^ b; }));
}

}  // namespace aoe::reference
