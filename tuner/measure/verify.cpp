// Comparison of outputs with the reference.
#include "tuner/measure/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "base/check.h"
#include "reference/elements/typed.h"

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

template <typename T>
Result<void> compare_as(const Tensor& expected, const Tensor& actual, double tolerance) {
  const std::span wanted(expected.as<T>(), static_cast<std::size_t>(expected.elements()));
  const T* const got = actual.as<T>();
  double largest = 0;
  using Compared = reference::ComputeType<T>;
  for (const T element : wanted) {
    const double magnitude = std::abs(static_cast<Compared>(element));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  const double allowed = tolerance * largest;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double a = static_cast<Compared>(wanted[i]), b = static_cast<Compared>(got[i]);
    if (!agrees(a, b, allowed))
      return Unexpected(fmt::format(
          "element {} is {:.7g}, the reference says {:.7g} (allowed {:.2g})", i, b, a, allowed));
  }
  return {};
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
  const double allowed = tolerance(expected.desc.dtype, rounding);
  switch (expected.desc.dtype) {
    case DataType::kFloat:
      return compare_as<float>(expected, actual, allowed);
    case DataType::kDouble:
      return compare_as<double>(expected, actual, allowed);
    case DataType::kFloat16:
      return compare_as<reference::Float16>(expected, actual, allowed);
    case DataType::kBFloat16:
      return compare_as<reference::BFloat16>(expected, actual, allowed);
    default:
      return compare_bytes(expected, actual);
  }
}

}  // namespace aoe::tuner
