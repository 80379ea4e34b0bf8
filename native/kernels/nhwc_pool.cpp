// MaxPool and AveragePool of images whose channels come last: vectors of channels, one place of the window after another.
#include <algorithm>
#include <limits>

#include "native/kernel.h"
#include "native/wide.h"
#include "reference/windows/window.h"

namespace aoe::native {
namespace {

/// NaN is larger than all.
AOE_WIDE void take_maxima(const float* __restrict x, std::int64_t channels, float* __restrict y) {
  for (std::int64_t c = 0; c < channels; ++c) y[c] = x[c] > y[c] || x[c] != x[c] ? x[c] : y[c];
}

AOE_WIDE void add(const float* __restrict x, std::int64_t channels, float* __restrict y) {
  for (std::int64_t c = 0; c < channels; ++c) y[c] += x[c];
}

AOE_WIDE void scale(float* y, std::int64_t channels, float factor) {
  for (std::int64_t c = 0; c < channels; ++c) y[c] *= factor;
}

struct Maximum {
  static constexpr float kStart = -std::numeric_limits<float>::infinity();
  static void take(const float* x, std::int64_t channels, float* y) { take_maxima(x, channels, y); }
  void end(std::int64_t, std::int64_t, float*, std::int64_t) const {}
};

/// Divided by as many elements as the window has inside of the image, or inside of its padding.
struct Mean {
  static constexpr float kStart = 0;
  bool counts_padding;

  static void take(const float* x, std::int64_t channels, float* y) { add(x, channels, y); }
  void end(std::int64_t inside, std::int64_t padded, float* y, std::int64_t channels) const {
    const std::int64_t count = counts_padding ? padded : inside;
    if (count > 1) scale(y, channels, 1 / static_cast<float>(count));
  }
};

template <typename Pool>
void pool_row(const Run& run, const reference::Window& window, const Pool& pool, std::int64_t row) {
  const reference::WindowAxis &h = window.height(), &w = window.width();
  const std::int64_t channels = run.shape(0)[3], top = row % h.output;
  const float* const image =
      run.inputs[0].as<float>() + row / h.output * h.input * w.input * channels;
  float* y = run.output(0).as<float>() + row * w.output * channels;
  for (std::int64_t x = 0; x < w.output; ++x, y += channels) {
    std::fill_n(y, channels, Pool::kStart);
    std::int64_t inside = 0;
    for (std::int64_t i = 0; i < h.kernel; ++i)
      for (std::int64_t j = 0; j < w.kernel; ++j)
        if (h.is_inside(h.tap(top, i)) && w.is_inside(w.tap(x, j))) {
          Pool::take(image + (h.tap(top, i) * w.input + w.tap(x, j)) * channels, channels, y);
          ++inside;
        }
    pool.end(inside, h.padded_taps(top) * w.padded_taps(x), y, channels);
  }
}

template <typename Pool>
void pool_images(const Run& run, const Pool& pool) {
  if (run.output(0).data == nullptr || run.output(0).elements() == 0) return;
  const reference::Window window =
      reference::window_of(run.call.type, run.attrs, run.shape(0)).value();
  const double cost = 0.05 * static_cast<double>(window.width().output * run.shape(0)[3] *
                                                 window.kernel_elements());
  run.threads.share(run.shape(0)[0] * window.height().output, cost,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t row = begin; row < end; ++row)
                        pool_row(run, window, pool, row);
                    });
}

}  // namespace

void register_nhwc_pool(KernelRegistry& registry) {
  const auto add_pool = [&](const char* type, void (*run)(const Run&)) {
    registry.add({.type = type, .supports = takes_floats(1), .run = run});
  };
  add_pool("NhwcMaxPoolV3", [](const Run& run) { pool_images(run, Maximum{}); });
  add_pool("NhwcAvgPoolV2", [](const Run& run) {
    pool_images(run, Mean{run.attrs.get_int("count_include_pad", 0) != 0});
  });
}

}  // namespace aoe::native
