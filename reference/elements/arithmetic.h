// Operations that every element type has: integers wrap like two's complement and what they divide by zero is 0, floating-point
// NaN wins in max/min.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace aoe::reference {

// Signed overflow is undefined in C++; the same bits come out of unsigned arithmetic, where it is
// not.
template <typename T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}

template <typename T>
T subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return a - b;
}

template <typename T>
T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

template <typename T>
T negate(T x) {
  if constexpr (std::is_integral_v<T>)
    return subtract(T{0}, x);
  else
    return -x;
}

/// Of integers toward zero.
template <typename T>
T divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return T{0};
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return negate(a);  // the smallest integer by -1 overflows
    }
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
}

/// With the sign of `a`.
template <typename T>
T remainder(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return b == 0 ? T{0} : subtract(a, multiply(divide(a, b), b));
  } else {
    return std::fmod(a, b);
  }
}

template <typename T>
T absolute(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::abs(x);
  else
    return x < T{0} ? negate(x) : x;
}

template <typename T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}

template <typename T>
T maximum(T a, T b) {
  return is_nan(a) || a > b ? a : b;
}

template <typename T>
T minimum(T a, T b) {
  return is_nan(a) || a < b ? a : b;
}

}  // namespace aoe::reference
