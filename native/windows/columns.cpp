// A row of an image at a time.
#include "native/windows/columns.h"

#include <algorithm>

#include "native/wide.h"

namespace aoe::native {
template <typename T>
AOE_WIDE void add_row(const T* __restrict row, std::int64_t count, std::int64_t step,
                      T* __restrict image) {
  if (step == 1)
    for (std::int64_t i = 0; i < count; ++i) image[i] += row[i];
  else
    for (std::int64_t i = 0; i < count; ++i) image[i * step] += row[i];
}

namespace {

/// add_row() of two rows, whose elements take turns.
template <typename T>
AOE_WIDE void add_pairs(const T* __restrict first, const T* __restrict second, std::int64_t count,
                        T* __restrict image) {
  for (std::int64_t i = 0; i < count; ++i) {
    image[2 * i] += first[i];
    image[2 * i + 1] += second[i];
  }
}

/// f(row of the blocks, row of the image) of those that tap (kd, kh) reads inside.
template <typename F>
void for_each_tap_row(const reference::Window& blocks, std::int64_t kd, std::int64_t kh,
                      const F& f) {
  const auto& [d, h, w] = blocks.axes;
  for (std::int64_t od = 0; od < d.output; ++od)
    for (std::int64_t oh = 0; oh < h.output; ++oh) {
      const std::int64_t z = d.tap(od, kd), y = h.tap(oh, kh);
      if (d.is_inside(z) && h.is_inside(y)) f(od * h.output + oh, z * h.input + y);
    }
}

}  // namespace

template <typename T>
void add_tap(const reference::Window& blocks, std::int64_t tap, const T* column, T* image) {
  const auto& [d, h, w] = blocks.axes;
  const std::int64_t kd = tap / w.kernel / h.kernel, kh = tap / w.kernel % h.kernel,
                     kw = tap % w.kernel;
  const auto [begin, end] = w.outputs_inside(kw);
  if (begin >= end) return;
  for_each_tap_row(blocks, kd, kh, [&](std::int64_t row, std::int64_t to) {
    add_row(column + row * w.output + begin, end - begin, w.stride,
            image + to * w.input + w.tap(begin, kw));
  });
}

template <typename T>
void add_taps(const reference::Window& blocks, const T* columns, T* image) {
  const auto& [d, h, w] = blocks.axes;
  const std::int64_t places = blocks.output_elements();
  for (std::int64_t k = 0; k < blocks.kernel_elements();) {
    const std::int64_t kw = k % w.kernel;
    const T* const column = columns + k * places;
    if (w.stride != 2 || w.dilation != 1 || kw + 1 == w.kernel) {
      add_tap(blocks, k++, column, image);
      continue;
    }
    const auto [first, first_end] = w.outputs_inside(kw);
    const auto [second, second_end] = w.outputs_inside(kw + 1);
    const std::int64_t begin = std::max(first, second),
                       end = std::max(begin, std::min(first_end, second_end));
    for_each_tap_row(blocks, k / w.kernel / h.kernel, k / w.kernel % h.kernel,
                     [&](std::int64_t row, std::int64_t to) {
                       const T* const a = column + row * w.output;
                       const T* const b = a + places;
                       T* const y = image + to * w.input;
                       const auto add_one = [&](const T* from, std::int64_t tap, std::int64_t i) {
                         y[w.tap(i, tap)] += from[i];
                       };
                       for (std::int64_t i = first; i < std::min(begin, first_end); ++i)
                         add_one(a, kw, i);
                       for (std::int64_t i = second; i < std::min(begin, second_end); ++i)
                         add_one(b, kw + 1, i);
                       add_pairs(a + begin, b + begin, end - begin, y + w.tap(begin, kw));
                       for (std::int64_t i = end; i < first_end; ++i) add_one(a, kw, i);
                       for (std::int64_t i = end; i < second_end; ++i) add_one(b, kw + 1, i);
                     });
    k += 2;
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

template void add_row(const float*, std::int64_t, std::int64_t, float*);
template void add_row(const double*, std::int64_t, std::int64_t, double*);
template void add_tap(const reference::Window&, std::int64_t, const float*, float*);
template void add_tap(const reference::Window&, std::int64_t, const double*, double*);
template void add_taps(const reference::Window&, const float*, float*);
template void add_taps(const reference::Window&, const double*, double*);
template void add_blocks(const reference::Window&, const float*, std::int64_t, float*);
template void add_blocks(const reference::Window&, const double*, std::int64_t, double*);

}  // namespace aoe::native
