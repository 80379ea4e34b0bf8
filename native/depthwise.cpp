// Row by row of outputs: each row of the input that its windows read is added with all taps along it at once. Rows lie
// in a copy of the plane with zeros around them, so that no tap needs bounds along them.
#include "native/depthwise.h"

#include <algorithm>
#include <vector>

#include "native/wide.h"
#include "reference/window.h"

namespace aoe::native {
namespace {

/// sums[i] += taps of the window that begins at row[i * stride]; kTaps of them, or `taps` where that is 0.
template <int kTaps>
AOE_WIDE void add_taps(const float* __restrict row, const float* __restrict weights,
                       std::int64_t taps, const reference::WindowAxis& w, float* __restrict sums) {
  const std::int64_t count = w.output, dilation = w.dilation, stride = w.stride;
  if (kTaps == 0 || stride != 1) {
    for (std::int64_t k = 0; k < taps; ++k)
      for (std::int64_t i = 0; i < count; ++i)
        sums[i] += weights[k] * row[i * stride + k * dilation];
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    float sum = sums[i];
    for (std::int64_t k = 0; k < kTaps; ++k) sum += weights[k] * row[i + k * dilation];
    sums[i] = sum;
  }
}

/// Of a row with its padding.
std::int64_t row_elements(const reference::WindowAxis& w) {
  return std::max(w.pad_begin + w.input, (w.output - 1) * w.stride + w.reach());
}

class Depthwise {
 public:
  explicit Depthwise(const Run& run)
      : run_(run),
        window_(reference::window_of(run.attrs, run.shape(0),
                                     reference::kernel_of(run.attrs, run.shape(1)))),
        channels_(run.shape(0)[1]),
        row_(row_elements(w_)) {}

  void run() const {
    const double cost = static_cast<double>(window_.output_elements()) *
                        (2 + 0.25 * static_cast<double>(window_.kernel_elements()));
    run_.threads.share(
        run_.shape(0)[0] * channels_, cost, [&](std::int64_t begin, std::int64_t end) {
          std::vector<float> rows(static_cast<std::size_t>(d_.input * h_.input * row_));
          for (std::int64_t plane = begin; plane < end; ++plane) run_plane(plane, rows.data());
        });
  }

 private:
  void run_plane(std::int64_t plane, float* rows) const {
    const float* x = run_.inputs[0].as<float>() + plane * window_.input_elements();
    for (std::int64_t i = 0; i < d_.input * h_.input; ++i)
      std::copy_n(x + i * w_.input, w_.input, rows + i * row_ + w_.pad_begin);
    const std::int64_t channel = plane % channels_;
    const float bias = run_.has_input(2) ? run_.inputs[2].as<float>()[channel] : 0;
    float* y = run_.output(0).as<float>() + plane * window_.output_elements();
    for (std::int64_t od = 0; od < d_.output; ++od)
      for (std::int64_t oh = 0; oh < h_.output; ++oh, y += w_.output) {
        std::fill_n(y, w_.output, bias);
        add_rows(rows, channel, od, oh, y);
      }
  }

  void add_rows(const float* rows, std::int64_t channel, std::int64_t od, std::int64_t oh,
                float* y) const {
    const float* weights = run_.inputs[1].as<float>() + channel * window_.kernel_elements();
    for (std::int64_t kd = 0; kd < d_.kernel; ++kd)
      for (std::int64_t kh = 0; kh < h_.kernel; ++kh, weights += w_.kernel) {
        const std::int64_t z = d_.tap(od, kd), line = h_.tap(oh, kh);
        if (!d_.is_inside(z) || !h_.is_inside(line)) continue;
        const float* row = rows + (z * h_.input + line) * row_;
        if (w_.kernel == 3)
          add_taps<3>(row, weights, 3, w_, y);
        else if (w_.kernel == 5)
          add_taps<5>(row, weights, 5, w_, y);
        else
          add_taps<0>(row, weights, w_.kernel, w_, y);
      }
  }

  const Run& run_;
  const reference::Window window_;
  const reference::WindowAxis &d_ = window_.depth(), &h_ = window_.height(), &w_ = window_.width();
  const std::int64_t channels_, row_;  ///< row_: elements of a row with its padding
};

}  // namespace

bool is_depthwise(const Run& run) {
  const Shape &x = run.shape(0), &weight = run.shape(1);
  const std::int64_t groups = run.attrs.get_int("group", 1);
  if (x[1] != groups || weight[0] != groups || weight[1] != 1) return false;
  // The copy of a plane is for what has more elements than zeros around them.
  constexpr std::int64_t kMostTimes = 8;
  const reference::Window window =
      reference::window_of(run.attrs, x, reference::kernel_of(run.attrs, weight));
  return row_elements(window.width()) <= kMostTimes * window.width().input;
}

void run_depthwise(const Run& run) {
  if (run.output(0).data == nullptr || run.output(0).elements() == 0) return;
  Depthwise(run).run();
}

}  // namespace aoe::native
