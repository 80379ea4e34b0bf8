// Binary mathematics with broadcasting: Add, Sub, Mul, Div, Mod, Pow, PRelu, and the operations on
// bits.
#include <cmath>

#include "reference/arithmetic.h"
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

/// `make(attrs)` returns the function of two elements of the same type.
template <typename Types, typename Make>
OpDef binary_with(std::string type, std::string onnx_type, Make make) {
  OpDef def{.type = std::move(type), .onnx_type = std::move(onnx_type)};
  def.infer = infer_broadcast;
  def.compute = [make](const OpContext& ctx) {
    visit_type<Types>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
      apply_binary<T, T, T>(ctx.inputs[0], ctx.inputs[1], ctx.outputs[0], make(ctx.attrs));
    });
  };
  def.is_elementwise = true;
  def.min_inputs = 2;
  return def;
}

template <typename Types, typename F>
OpDef binary(std::string type, std::string onnx_type, F f) {
  return binary_with<Types>(std::move(type), std::move(onnx_type), [f](const Attrs&) { return f; });
}

template <typename T>
T divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) fail_model("integer division by zero");
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return negate(a);  // the smallest integer by -1 overflows
    }
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
}

/// The remainder with the sign of the dividend, as C has it.
template <typename T>
T remainder_of_dividend(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return subtract(a, multiply(divide(a, b), b));
  } else {
    return std::fmod(a, b);
  }
}

/// The remainder with the sign of the divisor, as Python has it.
template <typename T>
T remainder_of_divisor(T a, T b) {
  const T remainder = remainder_of_dividend(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? add(remainder, b) : remainder;
}

auto make_mod(const Attrs& attrs) {
  return [is_fmod = attrs.get_int("fmod", 0) != 0](auto a, auto b) {
    return is_fmod ? remainder_of_dividend(a, b) : remainder_of_divisor(a, b);
  };
}

/// Exact for integers with an exponent >= 0, where double would lose digits.
template <typename T>
T power(T base, double exponent) {
  if constexpr (std::is_integral_v<T>) {
    if (exponent >= 0 && exponent == std::floor(exponent) && exponent < 0x1p63) {
      T result{1};
      for (auto bits = static_cast<std::uint64_t>(exponent); bits != 0; bits >>= 1) {
        if (bits & 1) result = multiply(result, base);
        base = multiply(base, base);
      }
      return result;
    }
  }
  return convert<T>(std::pow(static_cast<double>(base), exponent));
}

OpDef pow_def() {
  OpDef def{.type = "Pow", .onnx_type = "Pow"};
  def.infer = [](const InferContext& ctx) -> std::vector<TensorDesc> {
    return {{.dtype = ctx.dtype(0), .shape = broadcast_shapes(ctx.shape(0), ctx.shape(1))}};
  };
  def.compute = [](const OpContext& ctx) {
    // The exponent has a type of its own; as double it is exact for all that matter.
    std::vector<double> exponents = read_as<double>(ctx.inputs[1]);
    Tensor exponent = ctx.inputs[1];
    exponent.data = exponents.data();
    visit_type<NumericTypes>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
      apply_binary<T, double, T>(ctx.inputs[0], exponent, ctx.outputs[0],
                                 [](auto base, double e) { return power(base, e); });
    });
  };
  def.is_elementwise = true;
  def.min_inputs = 2;
  return def;
}

OpDef prelu_def() {
  OpDef def = binary<NumericTypes>(
      "PRelu", "PRelu", [](auto x, auto slope) { return x < 0 ? multiply(x, slope) : x; });
  def.infer = [](const InferContext& ctx) -> std::vector<TensorDesc> {
    if (!broadcasts_to(ctx.shape(1), ctx.shape(0)))
      fail_model("slope " + to_string(ctx.shape(1)) + " does not stretch to " +
                 to_string(ctx.shape(0)));
    return {{.dtype = common_dtype(ctx), .shape = ctx.shape(0)}};
  };
  return def;
}

auto make_bit_shift(const Attrs& attrs) {
  const std::string direction = attrs.get_string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    fail_model("attribute 'direction' is '" + direction + "', expected LEFT or RIGHT");
  return [is_left = direction == "LEFT"](auto x, auto distance) -> decltype(x) {
    using T = decltype(x);
    if (distance >= sizeof(T) * 8) return T{0};
    const auto wide = static_cast<std::uint64_t>(x);
    return static_cast<T>(is_left ? wide << distance : wide >> distance);
  };
}

void add_bitwise(OpRegistry& registry, OpDef def) {
  def.is_elementwise = false;  // epilogues calculate with numbers, not with bits
  registry.add(std::move(def));
}

}  // namespace

void register_elementwise_binary(OpRegistry& registry) {
  registry.add(binary<NumericTypes>("Add", "Add", [](auto a, auto b) { return add(a, b); }));
  registry.add(binary<NumericTypes>("Sub", "Sub", [](auto a, auto b) { return subtract(a, b); }));
  registry.add(binary<NumericTypes>("Mul", "Mul", [](auto a, auto b) { return multiply(a, b); }));
  registry.add(binary<NumericTypes>("Div", "Div", [](auto a, auto b) { return divide(a, b); }));
  registry.add(binary_with<NumericTypes>("Mod", "Mod", make_mod));
  registry.add(pow_def());
  registry.add(prelu_def());
  add_bitwise(registry, binary_with<UnsignedTypes>("BitShift", "BitShift", make_bit_shift));
  add_bitwise(registry,
              binary<IntTypes>("BitwiseAnd", "BitwiseAnd", [](auto a, auto b) { return a & b; }));
  add_bitwise(registry,
              binary<IntTypes>("BitwiseOr", "BitwiseOr", [](auto a, auto b) { return a | b; }));
  add_bitwise(registry,
              binary<IntTypes>("BitwiseXor", "BitwiseXor", [](auto a, auto b) { return a ^ b; }));
}

}  // namespace aoe::reference
