// See grid_sampler.h.
#include "reference/grid_sampler.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "reference/fail.h"
#include "reference/resample.h"

namespace aoe::reference {

GridSampler::Mode GridSampler::mode_of(const Attrs& attrs) {
  const std::string mode = attrs.get_string("mode", "bilinear");
  if (mode == "nearest") return Mode::kNearest;
  if (mode == "bilinear" || mode == "linear") return Mode::kLinear;
  if (mode == "bicubic" || mode == "cubic") return Mode::kCubic;
  fail_model("mode \"" + mode + "\" is unknown");
}

GridSampler::Padding GridSampler::padding_of(const Attrs& attrs) {
  const std::string padding = attrs.get_string("padding_mode", "zeros");
  if (padding == "zeros") return Padding::kZeros;
  if (padding == "border") return Padding::kBorder;
  if (padding == "reflection") return Padding::kReflection;
  fail_model("padding_mode \"" + padding + "\" is unknown");
}

GridSampler::GridSampler(const Attrs& attrs)
    : mode_(mode_of(attrs)),
      padding_(padding_of(attrs)),
      aligns_corners_(attrs.get_int("align_corners", 0) != 0) {
}

std::size_t GridSampler::most_taps() const {
  return mode_ == Mode::kNearest ? 1 : mode_ == Mode::kLinear ? 2 : 4;
}

GridTaps GridSampler::taps(double coordinate, std::int64_t size) const {
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

GridTaps GridSampler::raw_taps(double x) const {
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
std::int64_t GridSampler::pad(std::int64_t position, std::int64_t size) const {
  if (padding_ == Padding::kBorder || size == 1)
    return std::clamp<std::int64_t>(position, 0, size - 1);
  const std::int64_t period = aligns_corners_ ? 2 * (size - 1) : 2 * size;
  const std::int64_t wrapped = (position % period + period) % period;
  return wrapped < size ? wrapped : (aligns_corners_ ? period - wrapped : period - 1 - wrapped);
}

}  // namespace aoe::reference
