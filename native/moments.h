// Mean and deviation of neighbouring elements.
#pragma once

#include <cmath>
#include <cstdint>

#include "native/wide.h"

namespace aoe::native {

template <typename T>
struct Moments {
  T mean, inverse_deviation;
};

/// Sums keep their digits in float64.
template <typename T>
AOE_WIDE inline Moments<T> moments_of(const T* row, std::int64_t count, float epsilon) {
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += row[i];
  const double mean = sum / static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i) squares += (row[i] - mean) * (row[i] - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(count) + epsilon);
  return {static_cast<T>(mean), static_cast<T>(1 / deviation)};
}

}  // namespace aoe::native
