// Quotients rounded up.
#pragma once

#include <concepts>
#include <cstdint>

namespace aoe {

/// The least integer that is at least a / b, for b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a > 0 ? (a + b - 1) / b : a / b;
}
template <std::unsigned_integral T>
constexpr T ceil_div(T a, std::integral auto b) {
  return (a + static_cast<T>(b) - 1) / static_cast<T>(b);
}

/// The least multiple of `b` that is at least `a`, for b > 0.
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return ceil_div(a, b) * b;
}
template <std::unsigned_integral T>
constexpr T round_up(T a, std::integral auto b) {
  return ceil_div(a, b) * static_cast<T>(b);
}

}  // namespace aoe
