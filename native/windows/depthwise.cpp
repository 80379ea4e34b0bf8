// Plane by plane, in a copy with zeros around it: all outputs of a row, or of several short ones, add up one tap after another. Of a
// window of many rows, what a row of inputs gives is added to several rows of outputs at once, by a product whose left factor has the
// weights of each of them, and zeros for inputs that only others read.
#include "native/windows/depthwise.h"

#include <algorithm>
#include <vector>

#include "base/ceil_div.h"
#include "native/products/line_dots.h"
#include "native/products/product.h"
#include "native/wide.h"
#include "native/windows/padded_planes.h"
#include "reference/windows/window.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kShortRow = 64;    ///< outputs: several such rows are one
constexpr std::int64_t kStretch = 1024;   ///< outputs whose sums the first-level cache keeps
constexpr std::int64_t kLongVector = 16;  ///< elements
constexpr std::int64_t kTall =
    9;  ///< rows of a window for which eight rows of outputs are made at once

/// sums[i] = bias + all taps of the output that reads from[i] first; kVectors of them.
template <int kVectors>
AOE_WIDE void sum_taps(const std::vector<std::int64_t>& taps, const float* from,
                       const float* weights, float bias, float* __restrict sums) {
  using Loose = Lanes<float>::Loose;
  Floats block[kVectors];
  for (int v = 0; v < kVectors; ++v) block[v] = Floats{} + bias;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const auto* row = reinterpret_cast<const Loose*>(from + taps[i]);
    for (int v = 0; v < kVectors; ++v) block[v] += weights[i] * row[v];
  }
  for (int v = 0; v < kVectors; ++v) reinterpret_cast<Loose*>(sums)[v] = block[v];
}

/// `count` of them. Eight vectors are as many additions in flight as a core takes.
void sum_taps(const std::vector<std::int64_t>& taps, const float* from, const float* weights,
              float bias, std::int64_t count, float* sums) {
  std::int64_t i = 0;
  const auto sum = [&]<int kVectors>() {
    for (; i + kVectors * kFloats <= count; i += kVectors * kFloats)
      sum_taps<kVectors>(taps, from + i, weights, bias, sums + i);
  };
  sum.template operator()<8>();
  sum.template operator()<4>();
  sum.template operator()<2>();
  sum.template operator()<1>();
  if (i == count) return;
  float last[kFloats];
  sum_taps<1>(taps, from + i, weights, bias, last);
  std::copy(last, last + (count - i), sums + i);
}

class Depthwise {
 public:
  Depthwise(const Run& run, const RowEnding& ending)
      : run_(run),
        ending_(ending),
        window_(reference::window_of(run.attrs, run.shape(0),
                                     reference::kernel_of(run.attrs, run.shape(1)))),
        channels_(run.shape(0)[1]) {
    if (w_.output < kShortRow) rows_ = std::max<std::int64_t>(1, kStretch / planes_.row());
    if (!has_many_rows()) return;
    rows_ = h_.kernel < kTall ? 4 : 8;
    for (std::int64_t row = 0; row < h_.kernel + rows_ - 1; ++row)
      for (std::int64_t i = 0; i < w_.kernel; ++i)
        reads_.push_back(row * planes_.row() + taps_[static_cast<std::size_t>(i)]);
  }

  void run() const {
    const double cost = static_cast<double>(window_.output_elements()) *
                        (0.5 + 0.05 * static_cast<double>(window_.kernel_elements()));
    run_.threads.share(
        run_.shape(0)[0] * channels_, cost, [&](std::int64_t begin, std::int64_t end) {
          std::vector<float> copies[2], factors(reads_.size() * rows_);
          std::vector<float> sums(
              static_cast<std::size_t>(rows_ * std::max(planes_.row(), width_) + kFloats));
          for (std::vector<float>& copy : copies)
            copy.resize(static_cast<std::size_t>(planes_.elements() + kLongVector));
          copy_plane(begin, copies[begin % 2]);
          for (std::int64_t plane = begin; plane < end; ++plane) {
            // Of the next one, too: what a core has just written in pieces it must not read in others.
            if (plane + 1 < end) copy_plane(plane + 1, copies[(plane + 1) % 2]);
            const float* const copy = copies[plane % 2].data();
            if (reads_.empty())
              run_plane(plane, copy, sums.data());
            else
              run_tall(plane, copy, factors.data(), sums.data());
          }
        });
  }

 private:
  void copy_plane(std::int64_t plane, std::vector<float>& copy) const {
    planes_.copy(run_.inputs[0].as<float>() + plane * window_.input_elements(), copy.data());
  }

  /// Whether a product pays, for all that is multiplied by zero, and columns that are of no output.
  bool has_many_rows() const {
    constexpr std::int64_t kLeastRows = 5;
    return h_.kernel >= kLeastRows && h_.stride == 1 && h_.dilation == 1 && d_.kernel == 1 &&
           w_.output > kLongVector * 3 / 4;
  }

  const float* weights_of(std::int64_t plane) const {
    return run_.inputs[1].as<float>() + plane % channels_ * window_.kernel_elements();
  }
  float bias_of(std::int64_t plane) const {
    return run_.has_input(2) ? run_.inputs[2].as<float>()[plane % channels_] : 0;
  }

  void run_tall(std::int64_t plane, const float* copy, float* factors, float* sums) const {
    constexpr std::int64_t kAtOnce = 512;  // reads, whose factors the first-level cache keeps
    const std::int64_t length = std::ssize(reads_);
    for (std::int64_t r = 0; r < rows_; ++r)
      std::copy_n(weights_of(plane), window_.kernel_elements(), factors + r * (length + w_.kernel));
    float* y = y_ + plane * window_.output_elements();
    for (std::int64_t z = 0; z < d_.output; ++z)
      for (std::int64_t row = 0; row < h_.output; row += rows_) {
        const std::int64_t rows = std::min(rows_, h_.output - row),
                           used = (h_.kernel + rows - 1) * w_.kernel;
        std::fill_n(sums, rows * width_, bias_of(plane));
        for (std::int64_t i = 0; i < used; i += kAtOnce)
          add_product<float>({factors + i, length}, rows, std::min(kAtOnce, used - i),
                             RowsAt<const float>{copy + planes_.number(z, row), reads_.data() + i},
                             {sums, width_}, width_);
        ending_.apply(sums, rows * width_);
        copy_rows(sums, width_, w_.output, rows, y, w_.output);
        y += rows * w_.output;
      }
  }

  void run_plane(std::int64_t plane, const float* copy, float* sums) const {
    const float* const weights = weights_of(plane);
    const float bias = bias_of(plane);
    float* y = y_ + plane * window_.output_elements();
    for (std::int64_t z = 0; z < d_.output; ++z)
      for (std::int64_t row = 0; row < h_.output; row += rows_) {
        const std::int64_t rows = std::min(rows_, h_.output - row);
        const float* from = copy + planes_.number(z, row);
        if (rows == 1) {
          sum_taps(taps_, from, weights, bias, w_.output, y);
        } else {
          const std::int64_t count = (rows - 1) * planes_.row() + w_.output;
          sum_taps(taps_, from, weights, bias, round_up(count, kFloats), sums);
          copy_rows(sums, planes_.row(), w_.output, rows, y, w_.output);
        }
        ending_.apply(y, rows * w_.output);
        y += rows * w_.output;
      }
  }

  const Run& run_;
  float* const y_ = run_.output(0).as<float>();
  const RowEnding& ending_;
  const reference::Window window_;
  const reference::WindowAxis &d_ = window_.depth(), &h_ = window_.height(), &w_ = window_.width();
  const PaddedPlanes planes_{window_};
  const std::vector<std::int64_t> taps_ = planes_.taps();
  const std::int64_t channels_;
  std::int64_t rows_ = 1;  ///< of outputs at a time
  std::vector<std::int64_t>
      reads_;  ///< where each row of a product lies for output 0; of none there are none
  const std::int64_t width_ = round_up(w_.output, kLongVector);
};

bool has_a_channel_a_group(const Run& run) {
  const Shape &x = run.shape(0), &weight = run.shape(1);
  const std::int64_t groups = run.attrs.get_int("group", 1);
  return x[1] == groups && weight[0] == groups && weight[1] == 1;
}

reference::Window window_of(const Run& run) {
  return reference::window_of(run.attrs, run.shape(0),
                              reference::kernel_of(run.attrs, run.shape(1)));
}

/// Planes and weights, element by element.
bool are_windows_planes(const reference::Window& window) {
  return std::ranges::all_of(window.axes, [](const reference::WindowAxis& axis) {
    return axis.kernel == axis.input && axis.output == 1 && axis.pad_begin == 0 &&
           (axis.dilation == 1 || axis.kernel == 1);
  });
}

void multiply_planes(const Run& run, const RowEnding& ending) {
  const std::int64_t channels = run.shape(0)[1], planes = run.shape(0)[0] * channels;
  const std::int64_t size = run.inputs[1].elements() / channels;
  const auto *x = run.inputs[0].as<float>(), *weights = run.inputs[1].as<float>();
  const float* bias = run.has_input(2) ? run.inputs[2].as<float>() : nullptr;
  float* y = run.output(0).as<float>();
  const double cost = 2 + static_cast<double>(size) / 8;
  run.threads.share(planes, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end;) {
      const std::int64_t channel = plane % channels,
                         count = std::min(end - plane, channels - channel);
      LineDots::pairs(x + plane * size, weights + channel * size, count, size, y + plane);
      for (std::int64_t i = 0; bias != nullptr && i < count; ++i) y[plane + i] += bias[channel + i];
      ending.apply(y + plane, count);
      plane += count;
    }
  });
}

}  // namespace

bool is_depthwise(const Run& run) {
  if (!has_a_channel_a_group(run)) return false;
  const reference::Window window = window_of(run);
  return are_windows_planes(window) || PaddedPlanes::takes(window);
}

void run_depthwise(const Run& run, const RowEnding& ending) {
  if (run.output(0).data == nullptr || run.output(0).elements() == 0) return;
  if (are_windows_planes(window_of(run))) return multiply_planes(run, ending);
  Depthwise(run, ending).run();
}

}  // namespace aoe::native
