// The distribution of a value over calibration runs, and the range that bytes shall cover of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "quantize/qdq.h"

namespace aoe::quantize {

enum class Method {
  kMinMax,      ///< everything that was seen
  kPercentile,  ///< all but a share at either end
  /// The cut at which the distribution of the bytes tells most of that of the values: least Kullback-Leibler divergence
  /// (S. Migacz, 8-bit inference with TensorRT, GTC 2017).
  kEntropy
};

std::string method_name(Method method);

/// Two passes over the same values: widen() all, then count() all. Numbers that are not finite are left out.
class Histogram {
 public:
  void widen(std::span<const float> values);
  void count(std::span<const float> values);

  bool is_empty() const { return low_ > high_; }
  /// `percent`: of kPercentile, how many lie below the upper end, and above the lower one; 99.99.
  Range range(Method method, double percent) const;

 private:
  static constexpr std::size_t kBins = 4096;  // over -largest() to largest()
  float largest() const;
  Range percentile(double percent) const;
  Range entropy() const;

  float low_ = 1, high_ = -1;
  std::array<std::uint64_t, kBins> bins_{};
  std::uint64_t zeros_ = 0;  ///< among those of the middle bin
};

}  // namespace aoe::quantize
