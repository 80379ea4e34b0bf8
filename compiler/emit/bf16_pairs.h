// Weights as pairs of bfloat16 (loopnest::dot).
#pragma once

#include <cstdint>

#include "reference/elements/float16.h"

namespace aoe::compiler {

/// Each to the nearest, ties to even; NaN stays NaN.
inline std::uint32_t bf16_pair(float low, float high) {
  const auto bits = [](float value) { return std::uint32_t{reference::BFloat16(value).bits}; };
  return bits(low) | bits(high) << 16;
}

}  // namespace aoe::compiler
