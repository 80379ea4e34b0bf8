// See roi.h.
#include "reference/windows/roi.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "reference/fail.h"

namespace aoe::reference {
namespace {

constexpr double kMostSamples = 65536;  ///< of one bin along one axis: images are smaller

}  // namespace

RoiAlign::RoiAlign(const Attrs& attrs, int version)
    : is_max_(attrs.get_string("mode", "avg") == "max"),
      is_half_pixel_(version >= kHalfPixelVersion &&
                     attrs.get_string("coordinate_transformation_mode", "half_pixel") ==
                         "half_pixel"),
      scale_(attrs.get_float("spatial_scale", 1)),
      ratio_(attrs.get_int("sampling_ratio", 0)) {
}

RoiBins RoiAlign::bins(double from, double to, std::int64_t count) const {
  const double offset = is_half_pixel_ ? 0.5 : 0.0;
  double length = (to - from) * scale_;
  if (!is_half_pixel_) length = std::max(length, 1.0);
  const double size = length / static_cast<double>(count);
  const double samples = ratio_ > 0 ? static_cast<double>(ratio_) : std::ceil(size);
  if (!(samples <= kMostSamples))
    fail_model("a region takes " + std::to_string(samples) + " samples for each bin");
  return {from * scale_ - offset, size, static_cast<std::int64_t>(std::max(samples, 0.0))};
}

RoiCorners roi_corners(std::int64_t height, std::int64_t width, double y, double x) {
  const bool is_near = y >= -1 && y <= static_cast<double>(height) && x >= -1 &&
                       x <= static_cast<double>(width);  // NaN is nowhere
  if (!is_near) return {};
  const auto bracket = [](double v, std::int64_t size, std::int64_t& low, std::int64_t& high) {
    v = std::max(v, 0.0);
    low = std::min(static_cast<std::int64_t>(v), size - 1);
    high = std::min(low + 1, size - 1);
    return low == high ? 0.0 : v - static_cast<double>(low);
  };
  std::int64_t y0 = 0, y1 = 0, x0 = 0, x1 = 0;
  const double ty = bracket(y, height, y0, y1), tx = bracket(x, width, x0, x1);
  return {{y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1},
          {(1 - ty) * (1 - tx), (1 - ty) * tx, ty * (1 - tx), ty * tx},
          true};
}

std::int64_t roi_image(std::int64_t index, std::int64_t images) {
  if (index < 0 || index >= images)
    fail_model("a region lies in image " + std::to_string(index) + " of " + std::to_string(images));
  return index;
}

std::int64_t roi_pixel(double v) {
  constexpr double kFar = 1e9;
  return std::isnan(v) ? std::int64_t{0}
                       : static_cast<std::int64_t>(std::clamp(std::round(v), -kFar, kFar));
}

std::pair<std::int64_t, std::int64_t> roi_range(double from, double to, std::int64_t bin,
                                                std::int64_t bins, std::int64_t extent) {
  const std::int64_t first = roi_pixel(from), last = roi_pixel(to);
  const double size =
      static_cast<double>(std::max<std::int64_t>(last - first + 1, 1)) / static_cast<double>(bins);
  const auto begin = first + static_cast<std::int64_t>(std::floor(static_cast<double>(bin) * size));
  const auto end =
      first + static_cast<std::int64_t>(std::ceil(static_cast<double>(bin + 1) * size));
  return {std::clamp<std::int64_t>(begin, 0, extent), std::clamp<std::int64_t>(end, 0, extent)};
}

}  // namespace aoe::reference
