// MaxPool of float32 that also says where its maxima stand.
#include <algorithm>
#include <limits>

#include "native/kernel.h"
#include "native/taps.h"
#include "native/wide.h"
#include "reference/window.h"

namespace aoe::native {
namespace {

using reference::Window;

/// The windows of one row of the output, tap by tap.
struct BestRow {
  std::vector<float> values;
  std::vector<std::int32_t> places;  ///< in the plane
};

/// x[i * step] becomes the best of window i where it is larger or NaN; its place is place + i * place_step.
AOE_WIDE void take_tap(const float* __restrict x, std::int64_t step, std::int64_t count,
                       std::int32_t place, std::int32_t place_step, float* __restrict values,
                       std::int32_t* __restrict places) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = x[i * step];
    const bool is_better = (value > values[i]) | (value != value);
    values[i] = is_better ? value : values[i];
    places[i] = is_better ? place + static_cast<std::int32_t>(i) * place_step : places[i];
  }
}

class MaxPool {
 public:
  explicit MaxPool(const Run& run)
      : x_(run.inputs[0].as<float>()),
        planes_(run.shape(0)[0] * run.shape(0)[1]),
        window_(*reference::window_of("MaxPoolV3", run.attrs, run.shape(0))),
        is_column_major_(run.attrs.get_int("storage_order", 0) != 0),
        values_(run.output(0)),
        places_(run.output(1)) {
    check_plane(window_.input_elements());
  }

  void run(Threads& threads) const {
    const double cost =
        static_cast<double>(window_.output_elements() * (2 + window_.kernel_elements()));
    threads.share(planes_, cost, [&](std::int64_t begin, std::int64_t end) {
      BestRow best;
      for (std::int64_t plane = begin; plane < end; ++plane) run_plane(plane, best);
    });
  }

 private:
  void run_plane(std::int64_t plane, BestRow& best) const {
    const auto& [d, h, w] = window_.axes;
    const std::int64_t base = plane * window_.input_elements();
    std::int64_t to = plane * window_.output_elements();
    for (std::int64_t od = 0; od < d.output; ++od)
      for (std::int64_t oh = 0; oh < h.output; ++oh, to += w.output) {
        find_row(x_ + base, od, oh, best);
        if (values_.data != nullptr) std::ranges::copy(best.values, values_.as<float>() + to);
        if (places_.data != nullptr)
          for (std::size_t i = 0; i < best.places.size(); ++i)
            places_.as<std::int64_t>()[to + static_cast<std::int64_t>(i)] = base + best.places[i];
      }
  }

  void find_row(const float* x, std::int64_t od, std::int64_t oh, BestRow& best) const {
    const auto& [d, h, w] = window_.axes;
    best.values.assign(static_cast<std::size_t>(w.output), -std::numeric_limits<float>::infinity());
    best.places.assign(static_cast<std::size_t>(w.output), 0);
    for (std::int64_t kd = 0; kd < d.kernel; ++kd)
      for (std::int64_t kh = 0; kh < h.kernel; ++kh) {
        const std::int64_t z = d.tap(od, kd), y = h.tap(oh, kh);
        if (!d.is_inside(z) || !h.is_inside(y)) continue;
        for (std::int64_t kw = 0; kw < w.kernel; ++kw) {
          const auto [begin, end] = w.outputs_inside(kw);
          if (begin >= end) continue;
          const std::int64_t from = w.tap(begin, kw);
          take_tap(x + (z * h.input + y) * w.input + from, w.stride, end - begin,
                   place_of(z, y, from), static_cast<std::int32_t>(w.stride * place_step()),
                   best.values.data() + begin, best.places.data() + begin);
        }
      }
  }

  /// From one element of a row to the next.
  std::int64_t place_step() const {
    return is_column_major_ ? window_.height().input * window_.depth().input : 1;
  }
  std::int32_t place_of(std::int64_t z, std::int64_t y, std::int64_t x) const {
    const auto& [d, h, w] = window_.axes;
    return static_cast<std::int32_t>(is_column_major_ ? (x * h.input + y) * d.input + z
                                                      : (z * h.input + y) * w.input + x);
  }

  const float* x_;
  const std::int64_t planes_;
  const Window window_;
  const bool is_column_major_;
  const Tensor values_, places_;
};

/// There is generated code for maxima alone.
Result<void> supports(const Question& question) {
  if (question.outputs < 2) return Unexpected("nobody asks where the maxima stand");
  return takes_floats(1)(question);
}

}  // namespace

void register_max_pool(KernelRegistry& registry) {
  registry.add({.type = "MaxPoolV3", .supports = supports, .run = [](const Run& run) {
                  MaxPool(run).run(run.threads);
                }});
}

}  // namespace aoe::native
