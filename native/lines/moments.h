// Mean and deviation of neighbouring elements.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "native/wide.h"

namespace aoe::native {

template <typename T>
struct Moments {
  T mean, inverse_deviation;
};

/// The sum of `of` each element, in float64 to keep its digits, in parts for vectors.
template <typename T, typename F>
AOE_WIDE inline double sum_of(const T* row, std::int64_t count, const F& of) {
  constexpr std::int64_t kParts = 16;
  std::array<double, kParts> parts{};
  std::int64_t i = 0;
  for (; i + kParts <= count; i += kParts)
    for (std::int64_t k = 0; k < kParts; ++k) parts[k] += of(row[i + k]);
  for (; i < count; ++i) parts[0] += of(row[i]);
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

template <typename T>
AOE_WIDE inline Moments<T> moments_of(const T* row, std::int64_t count, float epsilon) {
  const double sum = sum_of(row, count, [](T x) AOE_WIDE { return static_cast<double>(x); });
  const double mean = sum / static_cast<double>(count);
  const double squares =
      sum_of(row, count, [mean](T x) AOE_WIDE { return (x - mean) * (x - mean); });
  const double deviation = std::sqrt(squares / static_cast<double>(count) + epsilon);
  return {static_cast<T>(mean), static_cast<T>(1 / deviation)};
}

}  // namespace aoe::native
