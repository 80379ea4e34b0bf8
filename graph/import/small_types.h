// Element types narrower than C++ has them: int4, uint4, int2, uint2, and the float8 and float4 types. Tensors of them are
// weights. The importer holds them as int8, uint8 or float32, which have all their values, and remembers what they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/tensor.h"
#include "reference/op.h"

namespace aoe::graph {

/// How the codes of a floating-point type mean numbers.
struct SmallFloat {
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;
  bool has_sign = true;
  bool has_infinity =
      false;  ///< the largest exponent is that of infinities and NaN, as in IEEE 754
  bool has_largest_nan = false;   ///< all ones is NaN
  bool has_negative_nan = false;  ///< a sign and no other bit is NaN, and not a zero
};

struct SmallType {
  std::int64_t onnx = 0;  ///< as TensorProto numbers it
  std::string_view name;
  int bits = 0;  ///< of an element; two or four share a byte, the first in the lowest bits
  DataType held = DataType::kUndefined;
  SmallFloat floating = {};  ///< of those that are held as float32

  bool is_float() const { return held == DataType::kFloat; }
  std::int64_t low() const;  ///< of integers
  std::int64_t high() const;
  std::size_t packed_bytes(std::int64_t elements) const;
  double value(unsigned code) const;
  /// The nearest value of a floating-point type, of two equally near the even one. What is beyond the largest becomes that,
  /// or without `saturate` infinity or NaN, whichever the type has. NaN is 0 where the type has none.
  double nearest(double value, bool saturate) const;
};

/// nullptr: another type, or none.
const SmallType* small_type(std::int64_t onnx_number);

/// The call that rounds float32 to a floating-point type with a sign, as SmallType::nearest() has it.
reference::OpCall rounding_to(const SmallType& type, bool saturate);

/// `bytes` are as many as packed_bytes() says.
std::shared_ptr<Constant> unpacked(const SmallType& type, const Shape& shape,
                                   std::string_view bytes);

}  // namespace aoe::graph
