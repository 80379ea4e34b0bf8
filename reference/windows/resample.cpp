// Coordinates, kernels and rounding of ONNX Resize.
#include "reference/windows/resample.h"

#include <algorithm>
#include <cmath>

#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/tensors/axes.h"

namespace aoe::reference {
namespace {

/// Where output position `x` lies on the input's axis.
double original_coordinate(const ResampleMode& mode, const ResampleAxis& axis,
                           std::int64_t position) {
  const auto x = static_cast<double>(position);
  const auto input = static_cast<double>(axis.input);
  const double resized = input * axis.scale;  // not rounded: that is what ONNX aligns corners with
  const std::string& word = mode.coordinates;
  if (word == "half_pixel") return (x + 0.5) / axis.scale - 0.5;
  if (word == "asymmetric") return x / axis.scale;
  if (word == "align_corners") return resized == 1 ? 0 : x * (input - 1) / (resized - 1);
  if (word == "pytorch_half_pixel") return axis.output > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  if (word == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (word == "half_pixel_symmetric") {
    const double lost = static_cast<double>(axis.output) / resized;
    return input / 2 * (1 - lost) + (x + 0.5) / axis.scale - 0.5;
  }
  if (word == "tf_crop_and_resize") {
    const double length = axis.roi_end - axis.roi_begin;
    if (axis.output == 1) return (axis.roi_begin + axis.roi_end) / 2 * (input - 1);
    return axis.roi_begin * (input - 1) +
           x * length * (input - 1) / static_cast<double>(axis.output - 1);
  }
  fail_model("coordinate_transformation_mode \"" + word + "\" is unknown");
}

std::int64_t nearest_position(const std::string& rounding, double x, double scale) {
  const auto integer = [](double value) { return static_cast<std::int64_t>(value); };
  if (rounding == "round_prefer_floor") return integer(std::ceil(x - 0.5));
  if (rounding == "round_prefer_ceil") return integer(std::floor(x + 0.5));
  if (rounding == "floor") return integer(std::floor(x));
  if (rounding == "ceil") return integer(std::ceil(x));
  if (rounding == "simple") return integer(scale < 1 ? std::ceil(x) : std::floor(x));
  fail_model("nearest_mode \"" + rounding + "\" is unknown");
}

double triangle(double x) {
  return std::max(0.0, 1 - std::abs(x));
}

/// Weights of all input positions within the kernel's reach around `x`. Antialiasing widens the kernel when shrinking.
std::vector<ResampleTap> interpolate(const ResampleMode& mode, const ResampleAxis& axis, double x) {
  const bool is_cubic = mode.interpolation == "cubic";
  const double squeeze = mode.antialiases ? std::min(1.0, axis.scale) : 1.0;
  const double reach = (is_cubic ? 2 : 1) / squeeze;
  std::vector<ResampleTap> taps;
  double sum = 0;
  const auto last = static_cast<std::int64_t>(std::ceil(x + reach));
  for (auto i = static_cast<std::int64_t>(std::floor(x - reach)); i <= last; ++i) {
    const double distance = (static_cast<double>(i) - x) * squeeze;
    const double weight =
        is_cubic ? cubic_weight(distance, mode.cubic_coefficient) : triangle(distance);
    const bool is_inside = i >= 0 && i < axis.input;
    if (weight == 0 || (mode.excludes_outside && !is_inside)) continue;
    taps.push_back({std::clamp<std::int64_t>(i, 0, axis.input - 1), weight});
    sum += weight;
  }
  for (ResampleTap& tap : taps) tap.weight /= sum;
  return taps;
}

}  // namespace

double cubic_weight(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

std::vector<ResampledPosition> resample_table(const ResampleMode& mode, const ResampleAxis& axis) {
  if (mode.interpolation != "nearest" && mode.interpolation != "linear" &&
      mode.interpolation != "cubic") {
    fail_model("mode \"" + mode.interpolation + "\" is unknown");
  }
  std::vector<ResampledPosition> table(static_cast<std::size_t>(axis.output));
  for (std::int64_t o = 0; o < axis.output; ++o) {
    ResampledPosition& position = table[static_cast<std::size_t>(o)];
    // A roi may name any position; far outside is all that matters of those that no integer holds.
    constexpr double kFar = 1e15;
    double x = original_coordinate(mode, axis, o);
    x = std::isnan(x) ? -kFar : std::clamp(x, -kFar, kFar);
    position.is_outside = mode.coordinates == "tf_crop_and_resize" &&
                          (x < 0 || x > static_cast<double>(axis.input - 1));
    if (mode.interpolation == "nearest") {
      const std::int64_t nearest = nearest_position(mode.rounding, x, axis.scale);
      position.taps = {{std::clamp<std::int64_t>(nearest, 0, axis.input - 1), 1.0}};
    } else {
      position.taps = interpolate(mode, axis, x);
    }
  }
  return table;
}

std::vector<double> resample(const std::vector<double>& values, const Shape& shape,
                             std::size_t axis, const std::vector<ResampledPosition>& table) {
  const AxisView view = view_axis(shape, axis);
  const auto inner = static_cast<std::size_t>(view.inner);
  std::vector<double> result = doubles(static_cast<std::size_t>(view.outer) * table.size() * inner);
  double* to = result.data();
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (const ResampledPosition& position : table) {
      for (const ResampleTap& tap : position.taps) {
        const double* from = values.data() + (o * view.dim + tap.position) * view.inner;
        for (std::size_t i = 0; i < inner; ++i) to[i] += tap.weight * from[i];
      }
      to += inner;
    }
  }
  return result;
}

}  // namespace aoe::reference
