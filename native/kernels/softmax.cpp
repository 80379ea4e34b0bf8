// SoftmaxV2 and LogSoftmaxV2 of float32 whose sizes are known when the model runs.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "native/axis_blocks.h"
#include "native/best.h"
#include "native/exponential.h"
#include "native/kernel.h"

namespace aoe::native {
namespace {

using reference::AxisView;

/// Columns at a time: their sums stay in the level-1 cache.
constexpr std::int64_t kBlock = 512;

/// The largest, or NaN where there is one.
struct LargerOrNan {
  bool operator()(float x, float best) const { return x > best || x != x; }
};

/// Of each column so far.
AOE_WIDE void take_largest(const float* __restrict x, std::int64_t count,
                           float* __restrict largest) {
  for (std::int64_t i = 0; i < count; ++i)
    largest[i] = LargerOrNan()(x[i], largest[i]) ? x[i] : largest[i];
}

/// Exponentials of a line, and their sum: of many numbers it keeps its digits in float64.
AOE_WIDE double write_exponentials(const float* x, float largest, std::int64_t count, float* y) {
  constexpr std::int64_t kColumns = 16;
  for (std::int64_t i = 0; i < count; ++i) y[i] = exp_down(x[i] - largest);
  std::array<double, kColumns> sums{};
  std::int64_t i = 0;
  for (; i + kColumns <= count; i += kColumns)
    for (std::int64_t k = 0; k < kColumns; ++k) sums[k] += y[i + k];
  for (; i < count; ++i) sums[0] += y[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

AOE_WIDE void write_exponential_row(const float* __restrict x, const float* __restrict largest,
                                    std::int64_t count, float* __restrict y,
                                    double* __restrict sums) {
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = exp_down(x[i] - largest[i]);
    sums[i] += y[i];
  }
}

AOE_WIDE void scale(float* y, std::int64_t count, float factor) {
  for (std::int64_t i = 0; i < count; ++i) y[i] *= factor;
}

AOE_WIDE void shift(const float* x, std::int64_t count, float largest, float log_sum, float* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = (x[i] - largest) - log_sum;
}

/// What a line is multiplied with, or has subtracted. NaN where it has one, or infinity: as the reference.
float end_of(float largest, double sum, bool is_log) {
  if (!std::isfinite(largest)) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(is_log ? std::log(sum) : 1 / sum);
}

void write_line(const float* x, std::int64_t count, bool is_log, float* y) {
  const float largest = best_value<float, LargerOrNan>(x, count);
  const float end = end_of(largest, write_exponentials(x, largest, count, y), is_log);
  if (is_log)
    shift(x, count, largest, end, y);
  else
    scale(y, count, end);
}

/// Neighbouring lines, whose elements are `stride` apart.
class Columns {
 public:
  Columns(std::int64_t stride, std::int64_t dim, bool is_log)
      : stride_(stride),
        dim_(dim),
        is_log_(is_log),
        largest_(kBlock),
        ends_(kBlock),
        sums_(kBlock) {}

  void write(const float* x, std::int64_t count, float* y) {
    std::ranges::fill(largest_, -std::numeric_limits<float>::infinity());
    std::ranges::fill(sums_, 0);
    for (std::int64_t k = 0; k < dim_; ++k) take_largest(x + k * stride_, count, largest_.data());
    for (std::int64_t k = 0; k < dim_; ++k)
      write_exponential_row(x + k * stride_, largest_.data(), count, y + k * stride_, sums_.data());
    for (std::size_t i = 0; i < ends_.size(); ++i)
      ends_[i] = end_of(largest_[i], sums_[i], is_log_);
    for (std::int64_t k = 0; k < dim_; ++k) end_row(x + k * stride_, count, y + k * stride_);
  }

 private:
  AOE_WIDE void end_row(const float* __restrict x, std::int64_t count, float* __restrict y) const {
    const float* const ends = ends_.data();
    const float* const largest = largest_.data();
    if (is_log_)
      for (std::int64_t i = 0; i < count; ++i) y[i] = (x[i] - largest[i]) - ends[i];
    else
      for (std::int64_t i = 0; i < count; ++i) y[i] *= ends[i];
  }

  const std::int64_t stride_, dim_;
  const bool is_log_;
  std::vector<float> largest_, ends_;
  std::vector<double> sums_;
};

void softmax(const AxisView& view, const float* x, bool is_log, float* y, Threads& threads) {
  const AxisBlocks blocks(view, kBlock);
  threads.share(blocks.count(), blocks.elements(), [&](std::int64_t begin, std::int64_t end) {
    if (view.inner == 1) {
      for (std::int64_t i = begin; i < end; ++i)
        write_line(x + i * view.dim, view.dim, is_log, y + i * view.dim);
      return;
    }
    Columns columns(view.inner, view.dim, is_log);
    for (std::int64_t i = begin; i < end; ++i) {
      const AxisBlock block = blocks.block(i);
      columns.write(x + block.at, block.count, y + block.at);
    }
  });
}

void run_softmax(const Run& run) {
  const Tensor out = run.output(0);
  if (out.data == nullptr || out.elements() == 0) return;
  softmax(reference::softmax_view(run.attrs, run.version, run.shape(0)), run.inputs[0].as<float>(),
          run.call.type == "LogSoftmaxV2", out.as<float>(), run.threads);
}

}  // namespace

void register_softmax(KernelRegistry& registry) {
  for (const char* type : {"SoftmaxV2", "LogSoftmaxV2"})
    registry.add({.type = type,
                  .supports = takes_floats(1),
                  .run = run_softmax,
                  .is_for_open_sizes = always});
}

}  // namespace aoe::native
