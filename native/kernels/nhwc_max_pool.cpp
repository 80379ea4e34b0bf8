// MaxPool of images whose channels come last: vectors of channels, one place of the window after another.
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

void pool_row(const Run& run, const reference::Window& window, std::int64_t row) {
  const reference::WindowAxis &h = window.height(), &w = window.width();
  const std::int64_t channels = run.shape(0)[3], top = row % h.output;
  const float* const image =
      run.inputs[0].as<float>() + row / h.output * h.input * w.input * channels;
  float* y = run.output(0).as<float>() + row * w.output * channels;
  for (std::int64_t x = 0; x < w.output; ++x, y += channels) {
    std::fill_n(y, channels, -std::numeric_limits<float>::infinity());
    for (std::int64_t i = 0; i < h.kernel; ++i)
      for (std::int64_t j = 0; j < w.kernel; ++j)
        if (h.is_inside(h.tap(top, i)) && w.is_inside(w.tap(x, j)))
          take_maxima(image + (h.tap(top, i) * w.input + w.tap(x, j)) * channels, channels, y);
  }
}

void run_nhwc_max_pool(const Run& run) {
  if (run.output(0).data == nullptr || run.output(0).elements() == 0) return;
  const reference::Window window =
      reference::window_of(run.call.type, run.attrs, run.shape(0)).value();
  const double cost = 0.05 * static_cast<double>(window.width().output * run.shape(0)[3] *
                                                 window.kernel_elements());
  run.threads.share(run.shape(0)[0] * window.height().output, cost,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t row = begin; row < end; ++row) pool_row(run, window, row);
                    });
}

}  // namespace

void register_nhwc_max_pool(KernelRegistry& registry) {
  registry.add({.type = "NhwcMaxPoolV3",
                .supports = [](const Question& q) { return takes_types(q, 0, {DataType::kFloat}); },
                .run = run_nhwc_max_pool});
}

}  // namespace aoe::native
