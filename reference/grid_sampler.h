// GridSampler: which elements of an axis a coordinate of GridSample's grid reads, and their weights.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "reference/attrs.h"

namespace aoe::reference {

struct GridTap {
  std::int64_t position = 0;
  double weight = 0;
};

struct GridTaps {
  std::array<GridTap, 4> taps{};
  std::size_t count = 0;  ///< fewer where some lie outside
  std::span<const GridTap> all() const { return {taps.data(), count}; }
};

class GridSampler {
 public:
  /// Throws Error(kModel) on words that it does not know.
  explicit GridSampler(const Attrs& attrs);

  /// The elements that one coordinate in [-1, 1] reads along an axis of `size` > 0.
  GridTaps taps(double coordinate, std::int64_t size) const;
  /// At most so many along an axis: 1, 2 or 4.
  std::size_t most_taps() const;

 private:
  enum class Mode { kNearest, kLinear, kCubic };
  enum class Padding { kZeros, kBorder, kReflection };
  static Mode mode_of(const Attrs& attrs);
  static Padding padding_of(const Attrs& attrs);
  GridTaps raw_taps(double x) const;
  std::int64_t pad(std::int64_t position, std::int64_t size) const;

  Mode mode_;
  Padding padding_;
  bool aligns_corners_;
};

}  // namespace aoe::reference
