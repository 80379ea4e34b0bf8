// Codes to numbers and back, from the tables of ONNX's documentation of its types.
#include "graph/import/small_types.h"

#include <cmath>
#include <limits>

#include "base/ceil_div.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

constexpr SmallFloat kE4M3FN = {4, 3, 7, true, false, true, false};
constexpr SmallFloat kE4M3FNUZ = {4, 3, 8, true, false, false, true};
constexpr SmallFloat kE5M2 = {5, 2, 15, true, true, false, false};
constexpr SmallFloat kE5M2FNUZ = {5, 2, 16, true, false, false, true};
constexpr SmallFloat kE2M1 = {2, 1, 1, true, false, false, false};
constexpr SmallFloat kE8M0 = {8, 0, 127, false, false, true, false};

constexpr SmallType kTypes[] = {
    {17, "float8e4m3fn", 8, DataType::kFloat, kE4M3FN},
    {18, "float8e4m3fnuz", 8, DataType::kFloat, kE4M3FNUZ},
    {19, "float8e5m2", 8, DataType::kFloat, kE5M2},
    {20, "float8e5m2fnuz", 8, DataType::kFloat, kE5M2FNUZ},
    {21, "uint4", 4, DataType::kUint8},
    {22, "int4", 4, DataType::kInt8},
    {23, "float4e2m1", 4, DataType::kFloat, kE2M1},
    {24, "float8e8m0", 8, DataType::kFloat, kE8M0},
    {25, "uint2", 2, DataType::kUint8},
    {26, "int2", 2, DataType::kInt8},
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double float_value(const SmallType& type, unsigned code) {
  const SmallFloat& f = type.floating;
  const unsigned sign_bit = f.has_sign ? 1U << (type.bits - 1) : 0;
  const unsigned all = (1U << type.bits) - 1, magnitude = code & ~sign_bit & all;
  const double sign = (code & sign_bit) != 0 ? -1 : 1;
  if (f.has_largest_nan && magnitude == (all & ~sign_bit)) return kNan;
  if (f.has_negative_nan && code == sign_bit) return kNan;
  const unsigned exponent = magnitude >> f.mantissa_bits;
  const unsigned mantissa = magnitude & ((1U << f.mantissa_bits) - 1);
  if (f.has_infinity && exponent == (1U << f.exponent_bits) - 1)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : kNan;
  if (exponent == 0 && f.has_sign)  // subnormal
    return sign * std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  const double one = 1 + std::ldexp(mantissa, -f.mantissa_bits);
  return sign * std::ldexp(one, static_cast<int>(exponent) - f.bias);
}

}  // namespace

const SmallType* small_type(std::int64_t onnx_number) {
  for (const SmallType& type : kTypes)
    if (type.onnx == onnx_number) return &type;
  return nullptr;
}

std::int64_t SmallType::low() const {
  return held == DataType::kInt8 ? -(std::int64_t{1} << (bits - 1)) : 0;
}

std::int64_t SmallType::high() const {
  return low() + (std::int64_t{1} << bits) - 1;
}

std::size_t SmallType::packed_bytes(std::int64_t elements) const {
  const std::int64_t per_byte = 8 / bits;
  return static_cast<std::size_t>(ceil_div(elements, per_byte));
}

double SmallType::value(unsigned code) const {
  if (is_float()) return float_value(*this, code);
  const auto number = static_cast<std::int64_t>(code);
  return static_cast<double>(number > high() ? number - (std::int64_t{1} << bits) : number);
}

double SmallType::nearest(double value, bool saturate) const {
  const bool has_nan =
      floating.has_infinity || floating.has_largest_nan || floating.has_negative_nan;
  if (std::isnan(value)) return has_nan ? value : 0;
  const double magnitude = std::abs(value);
  unsigned best = 0, largest = 0;  // codes of finite numbers from zero up rise with these
  const unsigned codes = 1U << (floating.has_sign ? bits - 1 : bits);
  for (unsigned code = 0; code < codes && std::isfinite(this->value(code)); ++code) {
    const double distance = std::abs(this->value(code) - magnitude);
    const double least = std::abs(this->value(best) - magnitude);
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
    largest = code;
  }
  // Half a step beyond the largest number is a tie, which goes to it where it is even.
  const double most = this->value(largest), half_step = (most - this->value(largest - 1)) / 2;
  const bool is_beyond =
      magnitude > most + half_step || (magnitude == most + half_step && largest % 2 != 0);
  if (is_beyond && !saturate && has_nan)
    return floating.has_infinity ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                 : kNan;
  const double result = magnitude > most ? most : this->value(best);
  return floating.has_negative_nan && result == 0 ? 0 : std::copysign(result, value);
}

reference::OpCall rounding_to(const SmallType& type, bool saturate) {
  const SmallFloat& f = type.floating;
  reference::Attrs attrs;
  attrs.set("mantissa_bits", std::int64_t{f.mantissa_bits});
  attrs.set("least_exponent", std::int64_t{1 - f.bias});
  attrs.set("most", static_cast<float>(type.nearest(1e30, true)));
  if (!saturate && f.has_infinity) attrs.set("beyond", std::string("infinity"));
  if (!saturate && (f.has_largest_nan || f.has_negative_nan))
    attrs.set("beyond", std::string("nan"));
  if (f.has_negative_nan) attrs.set("no_negative_zero", std::int64_t{1});
  if (!f.has_infinity && !f.has_largest_nan && !f.has_negative_nan)
    attrs.set("no_nan", std::int64_t{1});
  return call_of("RoundToSmallFloat", attrs);
}

std::shared_ptr<Constant> unpacked(const SmallType& type, const Shape& shape,
                                   std::string_view bytes) {
  auto constant = std::make_shared<Constant>(TensorDesc{.dtype = type.held, .shape = shape});
  const std::int64_t per_byte = 8 / type.bits, elements = element_count(shape);
  const unsigned mask = (1U << type.bits) - 1;
  const auto each = [&](auto* to) {
    for (std::int64_t i = 0; i < elements; ++i) {
      const auto byte = static_cast<unsigned char>(bytes[static_cast<std::size_t>(i / per_byte)]);
      const unsigned code =
          (static_cast<unsigned>(byte) >> static_cast<unsigned>(i % per_byte * type.bits)) & mask;
      to[i] = static_cast<std::remove_reference_t<decltype(*to)>>(type.value(code));
    }
  };
  if (type.is_float())
    each(static_cast<float*>(constant->mutable_data()));
  else if (type.held == DataType::kInt8)
    each(static_cast<std::int8_t*>(constant->mutable_data()));
  else
    each(static_cast<std::uint8_t*>(constant->mutable_data()));
  return constant;
}

}  // namespace aoe::graph
