// TapBlock: which elements of a plane a block of points reads, and their weights. Made once, it is applied to the planes of all
// channels, a tap of all points at a time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/tensor.h"

namespace aoe::native {

class TapBlock {
 public:
  static constexpr std::int64_t kPoints = 64;
  using Sums = std::array<float, kPoints>;

  /// No taps; at most `most` for a point.
  explicit TapBlock(std::size_t most);
  void clear();
  /// The first `taps` count for each point, whether they are set or not.
  void use(std::size_t taps) { used_ = taps; }
  /// Tap number `tap` of a point. What is not set reads nothing, not even a NaN times zero.
  void set(std::size_t tap, std::int64_t point, std::int64_t place, double weight);

  /// sums += the taps' weighted elements.
  void add(const float* plane, Sums& sums) const;
  /// sums = the largest of sums and each weighted element; what is not set counts as 0.
  void raise(const float* plane, Sums& sums) const;

 private:
  std::size_t used_ = 0;  ///< taps that some point has
  std::vector<std::int32_t> places_;
  std::vector<float> weights_;
  std::vector<std::int32_t> masks_;  ///< all ones where there is a tap
};

/// Throws Error(kModel) where places of a plane do not fit into 32 bits, which TapBlock holds them in.
void check_plane(std::int64_t elements);

}  // namespace aoe::native
