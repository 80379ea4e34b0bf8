// Float16 and BFloat16: the two 16-bit floating-point types as storage; arithmetic happens in
// float.
#pragma once

#include <bit>
#include <cstdint>

namespace aoe::reference {

/// IEEE 754 binary16.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value) : bits(encode(value)) {}
  explicit operator float() const { return decode(bits); }

 private:
  static std::uint16_t encode(float value) {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(all >> 16 & 0x8000u);
    const std::uint32_t magnitude = all & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u;   // NaN
    if (magnitude >= 0x47800000u) return sign | 0x7c00u;  // 65536 and above: infinity
    if (magnitude < 0x38800000u) {
      // Below the smallest normal 2^-14 a half counts units of 2^-24, and so does a float's
      // mantissa in [0.5, 1): adding 0.5 makes the processor round to nearest even at just the
      // right bit.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<std::uint16_t>(sign |
                                        (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
    }
    const std::uint32_t round_to_even = 0xfffu + (magnitude >> 13 & 1u);
    const std::uint32_t rebiased = magnitude - (112u << 23) + round_to_even;  // 127 - 15 = 112
    return static_cast<std::uint16_t>(sign | rebiased >> 13);
  }

  static float decode(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t exponent = half >> 10 & 0x1fu;
    const std::uint32_t mantissa = half & 0x3ffu;
    if (exponent == 0) {
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
      return sign != 0 ? -magnitude : magnitude;
    }
    const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
    return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
  }
};

/// The upper half of a float, rounded to nearest even.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) : bits(encode(value)) {}
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

 private:
  static std::uint16_t encode(float value) {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
    if ((all & 0x7fffffffu) > 0x7f800000u)
      return static_cast<std::uint16_t>(all >> 16 | 0x40u);  // keep NaN a NaN
    return static_cast<std::uint16_t>((all + 0x7fffu + (all >> 16 & 1u)) >> 16);
  }
};

static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2);

}  // namespace aoe::reference
