// Powers of numbers: of integers exact where they are whole.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "reference/elements/arithmetic.h"
#include "reference/elements/typed.h"

namespace aoe::reference {

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

}  // namespace aoe::reference
