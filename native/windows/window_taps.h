// Windows of pools one after another: for strides beyond 1 and short rows, where a vector along a row gains nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reference/windows/window.h"

namespace aoe::native {

/// The taps of one window along one axis that lie inside the input.
struct AxisTaps {
  std::int64_t first = 0;  ///< where the first of them falls
  std::int64_t count = 0;
};

inline std::vector<AxisTaps> taps_of(const reference::WindowAxis& axis) {
  std::vector<AxisTaps> all(static_cast<std::size_t>(axis.output));
  for (std::int64_t o = 0; o < axis.output; ++o) {
    AxisTaps& taps = all[static_cast<std::size_t>(o)];
    for (std::int64_t k = 0; k < axis.kernel; ++k)
      if (const std::int64_t at = axis.tap(o, k); axis.is_inside(at)) {
        if (taps.count++ == 0) taps.first = at;
      }
  }
  return all;
}

/// Which elements of a plane each of its windows reads; made once for all planes.
class WindowTaps {
 public:
  explicit WindowTaps(const reference::Window& window)
      : window_(window),
        depth_(taps_of(window.depth())),
        height_(taps_of(window.height())),
        width_(taps_of(window.width())) {}

  /// take(x, count, step) for each row of elements inside of each window, then end_window(index of the output in its plane, how
  /// many elements there were).
  template <typename T, typename Take, typename End>
  void visit(const T* plane, const Take& take, const End& end_window) const {
    const auto& [d, h, w] = window_.axes;
    std::int64_t output = 0;
    for (const AxisTaps& z : depth_)
      for (const AxisTaps& y : height_)
        for (const AxisTaps& x : width_) {
          for (std::int64_t kd = 0; kd < z.count; ++kd)
            for (std::int64_t kh = 0; kh < y.count; ++kh)
              take(plane +
                       ((z.first + kd * d.dilation) * h.input + y.first + kh * h.dilation) *
                           w.input +
                       x.first,
                   x.count, w.dilation);
          end_window(output++, z.count * y.count * x.count);
        }
  }

 private:
  const reference::Window& window_;
  std::vector<AxisTaps> depth_, height_, width_;
};

}  // namespace aoe::native
