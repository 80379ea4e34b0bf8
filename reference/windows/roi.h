// The geometry of RoiAlign and MaxRoiPool: what of an image each bin of a region reads.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "reference/attrs.h"

namespace aoe::reference {

/// One axis of a region: where its bins begin, how large they are and how many samples each takes.
struct RoiBins {
  double begin = 0, size = 0;
  std::int64_t samples = 1;
  double position(std::int64_t bin, std::int64_t sample) const {
    return begin + size * (static_cast<double>(bin) +
                           (static_cast<double>(sample) + 0.5) / static_cast<double>(samples));
  }
};

/// The attributes of RoiAlign.
class RoiAlign {
 public:
  static constexpr int kHalfPixelVersion = 16;  ///< has coordinate_transformation_mode

  RoiAlign(const Attrs& attrs, int version);
  bool is_max() const { return is_max_; }
  /// Of a region from `from` to `to`, in the regions' coordinates. Throws Error(kModel) on more samples than an image has.
  RoiBins bins(double from, double to, std::int64_t count) const;

 private:
  bool is_max_, is_half_pixel_;
  double scale_;
  std::int64_t ratio_;
};

/// The four neighbours of a place and their weights in bilinear interpolation.
struct RoiCorners {
  std::array<std::int64_t, 4> places{};  ///< in a plane
  std::array<double, 4> weights{};
  bool is_inside = false;  ///< false: more than one element outside, where all is zero
};
RoiCorners roi_corners(std::int64_t height, std::int64_t width, double y, double x);

/// Which image of the batch a region lies in; Error(kModel) when there is none.
std::int64_t roi_image(std::int64_t index, std::int64_t images);

/// Of MaxRoiPool: the nearest whole number; what no image reaches is as good as its border.
std::int64_t roi_pixel(double v);
/// The elements [first, second) of an axis of `extent` that bin `bin` of a region between two scaled corners covers.
std::pair<std::int64_t, std::int64_t> roi_range(double from, double to, std::int64_t bin,
                                                std::int64_t bins, std::int64_t extent);

}  // namespace aoe::reference
