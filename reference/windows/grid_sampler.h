// GridSampler: which elements of an axis a coordinate of GridSample's grid reads, and their weights. Of points there are many, so
// that what is asked for each is inline.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "reference/attrs.h"
#include "reference/windows/resample.h"

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

/// Taps of points side by side: what lies outside counts not at all, and stands at element 0.
struct GridTapRows {
  static constexpr std::int64_t kPoints = 64;
  template <typename T>
  using Row = std::array<T, kPoints>;
  std::array<Row<std::int32_t>, 4> positions;
  std::array<Row<double>, 4> weights;
  std::array<Row<std::int32_t>, 4> masks;  ///< all ones where the tap counts
};

class GridSampler {
 public:
  /// Throws Error(kModel) on words that it does not know.
  explicit GridSampler(const Attrs& attrs);

  /// The elements that one coordinate in [-1, 1] reads along an axis of `size` > 0.
  GridTaps taps(double coordinate, std::int64_t size) const;
  /// The same of many coordinates, row after row of most_taps(), for callers that are compiled for vectors. `size` fits into 32 bits.
  [[gnu::always_inline]] void fill(const GridTapRows::Row<double>& coordinates, std::int64_t size,
                                   GridTapRows& rows) const;
  /// At most so many along an axis: 1, 2 or 4.
  std::size_t most_taps() const;

 private:
  // Positions that no integer holds are as far outside as any: far enough for a clamp, not for an overflow.
  static constexpr double kFar = 1e15;
  static constexpr double kCubic = -0.75;  ///< fixed by ONNX
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
  x = std::isnan(x) ? -kFar : std::clamp(x, -kFar, kFar);
  const double floor = std::floor(x);
  const double t = x - floor;
  const auto first = static_cast<std::int64_t>(floor);
  if (mode_ == Mode::kNearest) return {{{{static_cast<std::int64_t>(std::nearbyint(x)), 1.0}}}, 1};
  if (mode_ == Mode::kLinear) return {{{{first, 1 - t}, {first + 1, t}}}, 2};
  const auto weight = [](double distance) { return cubic_weight(distance, kCubic); };
  return {{{{first - 1, weight(1 + t)},
            {first, weight(t)},
            {first + 1, weight(1 - t)},
            {first + 2, weight(2 - t)}}},
          4};
}

inline void GridSampler::fill(const GridTapRows::Row<double>& coordinates, std::int64_t size,
                              GridTapRows& rows) const {
  constexpr std::size_t kPoints = GridTapRows::kPoints;
  const auto n = static_cast<double>(size);
  const double factor = aligns_corners_ ? (n - 1) / 2 : n / 2, shift = aligns_corners_ ? 0 : -0.5;
  GridTapRows::Row<double> firsts, rests;
  for (std::size_t i = 0; i < kPoints; ++i) {
    double x = (coordinates[i] + 1) * factor + shift;
    x = x > -kFar ? x : -kFar;  // NaN as well
    x = x < kFar ? x : kFar;
    firsts[i] = mode_ == Mode::kNearest ? __builtin_nearbyint(x) : __builtin_floor(x);
    rests[i] = x - firsts[i];
  }
  const std::size_t taps = most_taps();
  for (std::size_t k = 0; k < taps; ++k) {
    const double offset = static_cast<double>(k) - (mode_ == Mode::kCubic ? 1 : 0);
    for (std::size_t i = 0; i < kPoints; ++i) {
      const double position = firsts[i] + offset;
      const bool is_inside = (position >= 0) & (position < n);
      const double clamped = position < 0 ? 0 : position > n - 1 ? n - 1 : position;
      const std::int32_t mask = is_inside | (padding_ != Padding::kZeros) ? -1 : 0;
      rows.positions[k][i] = static_cast<std::int32_t>(clamped) & mask;
      rows.masks[k][i] = mask;
      rows.weights[k][i] = taps == 1 ? 1 : k == 0 ? 1 - rests[i] : rests[i];
    }
    for (std::size_t i = 0; mode_ == Mode::kCubic && i < kPoints; ++i)
      rows.weights[k][i] = cubic_weight(std::abs(rests[i] - offset), kCubic);
    for (std::size_t i = 0; padding_ == Padding::kReflection && i < kPoints; ++i) {
      const auto position = static_cast<std::int64_t>(firsts[i] + offset);
      if (position < 0 || position >= size)
        rows.positions[k][i] = static_cast<std::int32_t>(pad(position, size));
    }
  }
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
