// Exponentials that compilers make vectors of.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>

#include "native/wide.h"

namespace aoe::native {

inline constexpr float kLeastExponent = -87.0f;  ///< below it results are denormal

/// Of x <= 0, to two units in the last place; a polynomial without branches. That of kLeastExponent for all below it.
AOE_WIDE inline float exp_clamped(float x) {
  constexpr float kRound = 12582912.0f;  // adding 1.5 * 2^23 leaves whole numbers
  const float clamped = x < kLeastExponent ? kLeastExponent : x;
  const float shifted = clamped * 1.44269504f + kRound, whole = shifted - kRound;
  const float rest = (clamped - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float sum = 1.0f / 720;
  for (const float factor : {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f})
    sum = sum * rest + factor;
  const std::int32_t exponent = (std::bit_cast<std::int32_t>(shifted) << 23) + (127 << 23);
  return sum * std::bit_cast<float>(exponent);
}

/// The same, but 0 where the result is denormal.
AOE_WIDE inline float exp_down(float x) {
  const float result = exp_clamped(x);
  return x < kLeastExponent ? 0.0f : result;
}

/// Of x <= 0 in float64, to two units in the last place as well; 0 where the result is denormal.
AOE_WIDE inline double exp_down(double x) {
  constexpr double kLeast = -708, kRound = 0x1.8p52;
  const double clamped = x < kLeast ? kLeast : x;
  const double shifted = clamped * 1.4426950408889634 + kRound, whole = shifted - kRound;
  const double rest = (clamped - whole * 0x1.62e42feep-1) - whole * 0x1.a39ef35793c76p-33;
  double sum = 1.0 / 6227020800;
  for (const double factor :
       {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
        1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
    sum = sum * rest + factor;
  constexpr std::uint64_t kBias = 1023;
  const double result =
      sum * std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + kBias) << 52);
  return x < kLeast ? 0.0 : result;
}

}  // namespace aoe::native
