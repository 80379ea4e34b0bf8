// RowEnding: what is done to sums when they are complete, while a cache has them: the activation behind a convolution.
#pragma once

#include <cstdint>
#include <limits>

namespace aoe::native {

/// x below 0 times `slope`, then within [low, high]; where the bounds cross, `high`. NaN stays. Then the curve.
struct RowEnding {
  enum class Curve { kNone, kSigmoidTimes, kHardSwish };  ///< of float32 alone

  float slope = 1;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  Curve curve = Curve::kNone;

  bool has_bounds() const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return low != -kInfinity || high != kInfinity;
  }
  void apply_curve(float* row, std::int64_t count) const;
  void apply(float* row, std::int64_t count) const;
  void apply(double* row, std::int64_t count) const;
};

}  // namespace aoe::native
