// GridSampler: which elements of an axis a coordinate of GridSample's grid reads, and their weights. Of points there are many, so
// that what is asked for each is inline.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "reference/attrs.h"
#include "reference/resample.h"

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

inline GridTaps GridSampler::taps(double coordinate, std::int64_t size) const {
  const auto n = static_cast<double>(size);
  const double x =
      aligns_corners_ ? (coordinate + 1) / 2 * (n - 1) : ((coordinate + 1) * n - 1) / 2;
  const GridTaps raw = raw_taps(x);
  GridTaps padded;
  for (GridTap tap : raw.all()) {
    const bool is_inside = tap.position >= 0 && tap.position < size;
    if (!is_inside && padding_ == Padding::kZeros) continue;
    if (!is_inside) tap.position = pad(tap.position, size);
    padded.taps[padded.count++] = tap;
  }
  return padded;
}

inline GridTaps GridSampler::raw_taps(double x) const {
  // Positions that no integer holds are as far outside as any: far enough for a clamp, not for an overflow.
  constexpr double kFar = 1e15;
  x = std::isnan(x) ? -kFar : std::clamp(x, -kFar, kFar);
  const double floor = std::floor(x);
  const double t = x - floor;
  const auto first = static_cast<std::int64_t>(floor);
  if (mode_ == Mode::kNearest) return {{{{static_cast<std::int64_t>(std::nearbyint(x)), 1.0}}}, 1};
  if (mode_ == Mode::kLinear) return {{{{first, 1 - t}, {first + 1, t}}}, 2};
  const auto weight = [](double distance) {
    return cubic_weight(distance, -0.75);
  };  // fixed by ONNX
  return {{{{first - 1, weight(1 + t)},
            {first, weight(t)},
            {first + 1, weight(1 - t)},
            {first + 2, weight(2 - t)}}},
          4};
}

/// Reflects about the centres of the outer elements when corners are aligned, about their outer edges when not.
inline std::int64_t GridSampler::pad(std::int64_t position, std::int64_t size) const {
  if (padding_ == Padding::kBorder || size == 1)
    return std::clamp<std::int64_t>(position, 0, size - 1);
  const std::int64_t period = aligns_corners_ ? 2 * (size - 1) : 2 * size;
  const std::int64_t wrapped = (position % period + period) % period;
  return wrapped < size ? wrapped : (aligns_corners_ ? period - wrapped : period - 1 - wrapped);
}

}  // namespace aoe::reference
