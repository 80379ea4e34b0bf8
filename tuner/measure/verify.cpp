// Comparison of outputs with the reference.
#include "tuner/measure/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"

namespace aoe::tuner {
namespace {

double epsilon(DataType dtype) {
  switch (dtype) {
    case DataType::kDouble:
      return 0x1p-52;
    case DataType::kFloat:
      return 0x1p-23;
    case DataType::kFloat16:
      return 0x1p-10;
    case DataType::kBFloat16:
      return 0x1p-7;
    default:
      return 0;
  }
}

double value_at(const Tensor& tensor, std::int64_t i) {
  switch (tensor.desc.dtype) {
    case DataType::kFloat:
      return tensor.as<float>()[i];
    case DataType::kDouble:
      return tensor.as<double>()[i];
    case DataType::kFloat16:
      return static_cast<double>(tensor.as<_Float16>()[i]);
    case DataType::kBFloat16:
      return std::bit_cast<float>(std::uint32_t{tensor.as<std::uint16_t>()[i]} << 16);
    default:
      AOE_CHECK(false, "not a floating type");
      return 0;
  }
}

Result<void> compare_bytes(const Tensor& expected, const Tensor& actual) {
  const std::size_t element_bytes = size_bytes(expected.desc.dtype);
  const auto* a = expected.as<const char>();
  const auto* b = actual.as<const char>();
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * element_bytes;
    if (std::memcmp(a + at, b + at, element_bytes) != 0)
      return Unexpected(
          fmt::format("element {} of {} differs from the reference", i, to_string(expected.desc)));
  }
  return {};
}

/// Equal infinities and NaN in both are right.
bool agrees(double expected, double actual, double allowed) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) == std::isnan(actual);
  return expected == actual || std::abs(expected - actual) <= allowed;
}

}  // namespace

double tolerance(DataType dtype, const Rounding& rounding) {
  // Of chains of functions, and of sums in another order.
  constexpr double kOfFunctions = 32, kOfSums = 8;
  const double sums = kOfSums * std::sqrt(std::max(1.0, rounding.reduction_length));
  return std::max(rounding.least_tolerance,
                  std::max(kOfFunctions, rounding.error_growth * sums) * epsilon(dtype));
}

Result<void> compare(const Tensor& expected, const Tensor& actual, const Rounding& rounding) {
  AOE_CHECK(expected.desc.dtype == actual.desc.dtype && expected.desc.shape == actual.desc.shape,
            to_string(expected.desc) + " against " + to_string(actual.desc));
  if (!is_floating(expected.desc.dtype)) return compare_bytes(expected, actual);

  const std::int64_t count = expected.elements();
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double magnitude = std::abs(value_at(expected, i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  const double allowed = tolerance(expected.desc.dtype, rounding) * largest;
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = value_at(expected, i);
    const double b = value_at(actual, i);
    if (!agrees(a, b, allowed))
      return Unexpected(fmt::format(
          "element {} is {:.7g}, the reference says {:.7g} (allowed {:.2g})", i, b, a, allowed));
  }
  return {};
}

}  // namespace aoe::tuner
