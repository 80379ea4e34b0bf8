// A row of an image at a time.
#include "native/windows/columns.h"

#include <algorithm>

#include "native/wide.h"

namespace aoe::native {
namespace {

/// image[i * step] += row[i]
template <typename T>
AOE_WIDE void add_row(const T* __restrict row, std::int64_t count, std::int64_t step,
                      T* __restrict image) {
  if (step == 1)
    for (std::int64_t i = 0; i < count; ++i) image[i] += row[i];
  else
    for (std::int64_t i = 0; i < count; ++i) image[i * step] += row[i];
}

}  // namespace

template <typename T>
void add_tap(const reference::Window& blocks, std::int64_t tap, const T* column, T* image) {
  const auto& [d, h, w] = blocks.axes;
  const std::int64_t kd = tap / w.kernel / h.kernel, kh = tap / w.kernel % h.kernel,
                     kw = tap % w.kernel;
  const auto [begin, end] = w.outputs_inside(kw);
  if (begin >= end) return;
  for (std::int64_t od = 0; od < d.output; ++od)
    for (std::int64_t oh = 0; oh < h.output; ++oh) {
      const std::int64_t z = d.tap(od, kd), y = h.tap(oh, kh);
      if (!d.is_inside(z) || !h.is_inside(y)) continue;
      add_row(column + (od * h.output + oh) * w.output + begin, end - begin, w.stride,
              image + (z * h.input + y) * w.input + w.tap(begin, kw));
    }
}

template <typename T>
void add_blocks(const reference::Window& blocks, const T* taps, std::int64_t stride, T* image) {
  const auto& [d, h, w] = blocks.axes;
  for (std::int64_t place = 0; place < blocks.output_elements(); ++place, taps += stride) {
    const std::int64_t od = place / w.output / h.output, oh = place / w.output % h.output,
                       x = w.tap(place % w.output, 0);
    const std::int64_t begin = std::clamp<std::int64_t>(-x, 0, w.kernel),
                       end = std::clamp<std::int64_t>(w.input - x, begin, w.kernel);
    const T* row = taps;
    for (std::int64_t kd = 0; kd < d.kernel; ++kd)
      for (std::int64_t kh = 0; kh < h.kernel; ++kh, row += w.kernel) {
        const std::int64_t z = d.tap(od, kd), y = h.tap(oh, kh);
        if (d.is_inside(z) && h.is_inside(y))
          add_row(row + begin, end - begin, 1, image + (z * h.input + y) * w.input + x + begin);
      }
  }
}

template void add_tap(const reference::Window&, std::int64_t, const float*, float*);
template void add_tap(const reference::Window&, std::int64_t, const double*, double*);
template void add_blocks(const reference::Window&, const float*, std::int64_t, float*);
template void add_blocks(const reference::Window&, const double*, std::int64_t, double*);

}  // namespace aoe::native
