// A row of an image at a time.
#include "native/columns.h"

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

template void add_tap(const reference::Window&, std::int64_t, const float*, float*);
template void add_tap(const reference::Window&, std::int64_t, const double*, double*);

}  // namespace aoe::native
