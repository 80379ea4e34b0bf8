// Quantize: real numbers to 8- and 16-bit integers and back, as all quantised operators of ONNX do
// it.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/ceil_div.h"
#include "reference/attrs.h"
#include "reference/fail.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {

struct QuantRange {
  double min = 0;
  double max = 0;
};

inline QuantRange quant_range(DataType type) {
  switch (type) {
    case DataType::kUint8:
      return {0, 255};
    case DataType::kInt8:
      return {-128, 127};
    case DataType::kUint16:
      return {0, 65535};
    case DataType::kInt16:
      return {-32768, 32767};
    default:
      fail_model("quantised type is " + std::string(name(type)) +
                 ", needs uint8, int8, uint16 or int16");
  }
}

/// `scaled` is value / scale: rounds half to even, shifts by the zero point and saturates.
inline double quantize(double scaled, double zero_point, const QuantRange& range) {
  return std::clamp(std::nearbyint(scaled) + zero_point, range.min, range.max);
}

/// What an integer sum is multiplied by to give a quotient by `y_scale`. One rounding, to float32.
inline float requantize_multiplier(double x_scale, double w_scale, double y_scale) {
  return static_cast<float>(x_scale * w_scale / y_scale);
}

/// The real number that an integer sum stands for. In float32, as every kernel computes it, so that results are equal
/// and not only close: an integer is reached by way of one rounding of the sum and one of the product.
inline float rescale(double sum, float multiplier) {
  return static_cast<float>(sum) * multiplier;
}

/// The values of a zero point or scale input: one, or one per channel; a single `fallback` when it
/// is absent.
inline std::vector<double> quant_parameter(std::span<const Tensor> inputs, std::size_t index,
                                           double fallback) {
  if (index >= inputs.size() || !inputs[index].is_present()) return {fallback};
  return to_doubles(inputs[index]);
}

/// Element `i` of a parameter that holds one value for all or one for each.
inline double parameter_at(const std::vector<double>& parameter, std::int64_t i) {
  if (parameter.size() == 1) return parameter.front();
  if (i >= std::ssize(parameter)) {
    fail_model("only " + std::to_string(parameter.size()) +
               " scales or zero points for its channels");
  }
  return parameter[static_cast<std::size_t>(i)];
}

/// How the elements of a scale or zero point lie along those of `x`.
enum class Spread { kOne, kAlongAxis, kBlocks };

/// Throws Error(kModel) when the parameter has no place along `x`; unknown dimensions may still fit.
inline Spread spread_of(const Attrs& attrs, const Shape& parameter, const Shape& x) {
  if (is_static(parameter) && element_count(parameter) == 1) return Spread::kOne;
  const std::size_t axis = normalize_axis(attrs.get_int("axis", 1), x.size());
  if (parameter.size() == 1) {
    check_vector(parameter, x[axis], "a scale or zero point along axis " + std::to_string(axis));
    return Spread::kAlongAxis;
  }
  const std::int64_t block = attrs.get_int("block_size", 0);
  if (block < 1 || parameter.size() != x.size())
    fail_model("scales " + to_string(parameter) + " for an input " + to_string(x));
  Shape needed = x;
  if (x[axis] != kUnknownDim) needed[axis] = ceil_div(x[axis], block);
  check_same_shape(parameter, needed,
                   "a scale or zero point for blocks of " + std::to_string(block));
  return Spread::kBlocks;
}

}  // namespace aoe::reference
