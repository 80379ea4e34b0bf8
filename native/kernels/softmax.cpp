// SoftmaxV2 and LogSoftmaxV2 of float32 and float64 whose sizes are known when the model runs.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "native/by_type.h"
#include "native/elements/exponential.h"
#include "native/kernel.h"
#include "native/lines/axis_blocks.h"
#include "native/lines/best.h"
#include "native/lines/short_lines.h"
#include "native/lines/softmax_block.h"

namespace aoe::native {
namespace {

using reference::AxisView;

/// Columns at a time: their sums stay in the level-1 cache.
constexpr std::int64_t kBlock = 512;

/// The largest, or NaN where there is one.
struct LargerOrNan {
  template <typename T>
  bool operator()(T x, T best) const {
    return x > best || x != x;
  }
};

/// Of each column so far.
template <typename T>
AOE_WIDE void take_largest(const T* __restrict x, std::int64_t count, T* __restrict largest) {
  for (std::int64_t i = 0; i < count; ++i)
    largest[i] = LargerOrNan()(x[i], largest[i]) ? x[i] : largest[i];
}

/// Exponentials of a line, and their sum.
AOE_WIDE double write_exponentials(const double* x, double largest, std::int64_t count, double* y) {
  constexpr std::int64_t kColumns = 16;
  for (std::int64_t i = 0; i < count; ++i) y[i] = exp_down(x[i] - largest);
  std::array<double, kColumns> sums{};
  std::int64_t i = 0;
  for (; i + kColumns <= count; i += kColumns)
    for (std::int64_t k = 0; k < kColumns; ++k) sums[k] += y[i + k];
  for (; i < count; ++i) sums[0] += y[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

template <typename T>
AOE_WIDE void write_exponential_row(const T* __restrict x, const T* __restrict largest,
                                    std::int64_t count, T* __restrict y, double* __restrict sums) {
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = exp_down(x[i] - largest[i]);
    sums[i] += y[i];
  }
}

AOE_WIDE void scale(double* y, std::int64_t count, double factor) {
  for (std::int64_t i = 0; i < count; ++i) y[i] *= factor;
}

AOE_WIDE void shift(const double* x, std::int64_t count, double largest, double log_sum,
                    double* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = (x[i] - largest) - log_sum;
}

/// What a line is multiplied with, or has subtracted. NaN where it has one, or infinity: as the reference.
template <typename T>
T end_of(T largest, double sum, bool is_log) {
  if (!std::isfinite(largest)) return std::numeric_limits<T>::quiet_NaN();
  return static_cast<T>(is_log ? std::log(sum) : 1 / sum);
}

/// Whether a line is better written by itself, though it is short.
template <typename T>
bool fills_vectors(std::int64_t dim) {
  constexpr std::int64_t kLongestVector = 16;
  return std::is_same_v<T, float> && dim >= kLongestVector;
}

void write_lines(const double* x, std::int64_t lines, std::int64_t count, bool is_log, double* y) {
  for (std::int64_t i = 0; i < lines; ++i, x += count, y += count) {
    const double largest = best_value<double, LargerOrNan>(x, count);
    const double end = end_of(largest, write_exponentials(x, largest, count, y), is_log);
    if (is_log)
      shift(x, count, largest, end, y);
    else
      scale(y, count, end);
  }
}

void write_lines(const float* x, std::int64_t lines, std::int64_t count, bool is_log, float* y) {
  write_softmax(x, lines, count, is_log, y);
}

/// Neighbouring lines, whose elements are `stride` apart.
template <typename T>
class Columns {
 public:
  /// `most`: of them at a time.
  Columns(std::int64_t stride, std::int64_t dim, bool is_log, std::int64_t most)
      : stride_(stride),
        dim_(dim),
        is_log_(is_log),
        largest_(static_cast<std::size_t>(most)),
        ends_(largest_),
        sums_(largest_.size()) {}

  void write(const T* x, std::int64_t count, T* y) {
    std::ranges::fill(largest_, -std::numeric_limits<T>::infinity());
    std::ranges::fill(sums_, 0);
    for (std::int64_t k = 0; k < dim_; ++k) take_largest(x + k * stride_, count, largest_.data());
    for (std::int64_t k = 0; k < dim_; ++k)
      write_exponential_row(x + k * stride_, largest_.data(), count, y + k * stride_, sums_.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      ends_[i] = end_of(largest_[i], sums_[i], is_log_);
    for (std::int64_t k = 0; k < dim_; ++k) end_row(x + k * stride_, count, y + k * stride_);
  }

 private:
  AOE_WIDE void end_row(const T* __restrict x, std::int64_t count, T* __restrict y) const {
    const T* const ends = ends_.data();
    const T* const largest = largest_.data();
    if (is_log_)
      for (std::int64_t i = 0; i < count; ++i) y[i] = (x[i] - largest[i]) - ends[i];
    else
      for (std::int64_t i = 0; i < count; ++i) y[i] *= ends[i];
  }

  const std::int64_t stride_, dim_;
  const bool is_log_;
  std::vector<T> largest_, ends_;
  std::vector<double> sums_;
};

template <typename T>
void softmax_of_short_lines(const AxisView& view, const T* x, bool is_log, T* y, Threads& threads) {
  for_each_short_line(x, view.dim, view.outer, threads,
                      [&](const T* lines, std::int64_t first, std::int64_t count) {
                        Columns<T> columns(kLinesAtOnce, view.dim, is_log, kLinesAtOnce);
                        T results[kShortLine * kLinesAtOnce];
                        columns.write(lines, count, results);
                        turn(results, kLinesAtOnce, view.dim, count, y + first * view.dim,
                             view.dim);
                      });
}

template <typename T>
void softmax(const AxisView& view, const T* x, bool is_log, T* y, Threads& threads) {
  if (view.inner == 1 && view.dim <= kShortLine && !fills_vectors<T>(view.dim))
    return softmax_of_short_lines(view, x, is_log, y, threads);
  const AxisBlocks blocks(view, kBlock);
  threads.share(blocks.count(), blocks.elements(), [&](std::int64_t begin, std::int64_t end) {
    if (view.inner == 1)
      return write_lines(x + begin * view.dim, end - begin, view.dim, is_log, y + begin * view.dim);
    Columns<T> columns(view.inner, view.dim, is_log, kBlock);
    for (std::int64_t i = begin; i < end; ++i) {
      const AxisBlock block = blocks.block(i);
      columns.write(x + block.at, block.count, y + block.at);
    }
  });
}

template <typename T>
void run_softmax(const Run& run) {
  const Tensor& out = run.output(0);
  if (out.data == nullptr || out.elements() == 0) return;
  softmax(reference::softmax_view(run.attrs, run.version, run.shape(0)), run.inputs[0].as<T>(),
          run.call.type == "LogSoftmaxV2", out.as<T>(), run.threads);
}

}  // namespace

void register_softmax(KernelRegistry& registry) {
  for (const char* type : {"SoftmaxV2", "LogSoftmaxV2"})
    registry.add({.type = type,
                  .supports = takes_one_float_type,
                  .run = by_type<reference::TypeList<float, double>>(
                      []<typename T>(const Run& run) { run_softmax<T>(run); }),
                  .is_for_open_sizes = always});
}

}  // namespace aoe::native
