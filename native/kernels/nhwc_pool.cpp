// MaxPool and AveragePool of images whose channels come last: vectors of channels at all places of a window. Maxima of bytes as well.
#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "native/by_type.h"
#include "native/kernel.h"
#include "native/wide.h"
#include "reference/windows/window.h"

namespace aoe::native {
namespace {

/// NaN is larger than all.
template <typename T>
struct Maximum {
  using Element = T;
  static constexpr bool kDivides = false;
  static constexpr T kStart = std::is_integral_v<T> ? std::numeric_limits<T>::lowest()
                                                    : -std::numeric_limits<T>::infinity();
  template <typename Value>
  AOE_WIDE static Value join(Value all, Value one) {
    return (one > all) | (one != one) ? one : all;
  }
};

/// Divided by as many elements as the window has inside of the image, or inside of its padding.
struct Mean {
  using Element = float;
  static constexpr bool kDivides = true;
  static constexpr float kStart = 0;
  bool counts_padding;

  template <typename Value>
  AOE_WIDE static Value join(Value all, Value one) {
    return all + one;
  }
  float factor(std::int64_t inside, std::int64_t padded) const {
    const std::int64_t count = counts_padding ? padded : inside;
    return count > 1 ? 1 / static_cast<float>(count) : 1;
  }
};

/// What a window reads.
template <typename T>
struct Places {
  const T* image;
  std::int64_t begin;
  const std::vector<std::int64_t>& taps;  ///< from there
};

/// kVectors vectors of channels from `c` on.
template <int kVectors, typename Pool, typename T>
AOE_WIDE void pool_vectors(const Places<T>& x, std::int64_t c, float factor, T* y) {
  using Vector = typename Lanes<T>::Vector;
  using Loose = typename Lanes<T>::Loose;
  Vector all[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) all[v] = Vector{} + Pool::kStart;
  for (const std::int64_t tap : x.taps) {
    const T* const from = x.image + (x.begin + tap + c);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      all[v] = Pool::join(all[v], Vector(reinterpret_cast<const Loose*>(from)[v]));
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    if constexpr (Pool::kDivides) all[v] *= factor;
    reinterpret_cast<Loose*>(y + c)[v] = all[v];
  }
}

template <typename Pool, typename T>
void pool_pixel(const Places<T>& x, float factor, std::int64_t channels, T* y) {
  constexpr std::int64_t kLanes = Lanes<T>::kCount;
  std::int64_t c = 0;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) pool_vectors<4, Pool>(x, c, factor, y);
  for (; c + 2 * kLanes <= channels; c += 2 * kLanes) pool_vectors<2, Pool>(x, c, factor, y);
  for (; c + kLanes <= channels; c += kLanes) pool_vectors<1, Pool>(x, c, factor, y);
  if (c < channels && channels >= kLanes)  // some of them once more
    return pool_vectors<1, Pool>(x, channels - kLanes, factor, y);
  for (; c < channels; ++c) {
    T all = Pool::kStart;
    for (const std::int64_t tap : x.taps)
      all = static_cast<T>(Pool::join(all, x.image[x.begin + tap + c]));
    if constexpr (Pool::kDivides) all *= factor;
    y[c] = all;
  }
}

/// Of a row of windows those taps that fall inside of the image, from the first of each window.
class InnerTaps {
 public:
  InnerTaps(const reference::Window& window, std::int64_t top, std::int64_t channels)
      : h_(window.height()), w_(window.width()), top_(top), channels_(channels) {}

  const std::vector<std::int64_t>& of(std::int64_t x) {
    std::int64_t first = 0, end = w_.kernel;
    while (first < end && !w_.is_inside(w_.tap(x, first))) ++first;
    while (first < end && !w_.is_inside(w_.tap(x, end - 1))) --end;
    if (first == first_ && end == end_) return taps_;
    first_ = first, end_ = end;
    taps_.clear();
    for (std::int64_t i = 0; i < h_.kernel; ++i)
      for (std::int64_t j = first; j < end && h_.is_inside(h_.tap(top_, i)); ++j)
        taps_.push_back((i * h_.dilation * w_.input + j * w_.dilation) * channels_);
    return taps_;
  }
  /// Where the first tap of a window is, or would be.
  std::int64_t begin(std::int64_t x) const {
    return (h_.tap(top_, 0) * w_.input + w_.tap(x, 0)) * channels_;
  }

 private:
  const reference::WindowAxis &h_, &w_;
  std::int64_t top_, channels_, first_ = -1, end_ = -1;
  std::vector<std::int64_t> taps_;
};

template <typename Pool>
void pool_row(const Run& run, const reference::Window& window, const Pool& pool, std::int64_t row) {
  const reference::WindowAxis &h = window.height(), &w = window.width();
  const std::int64_t channels = run.shape(0)[3], top = row % h.output;
  using T = typename Pool::Element;
  const T* const image = run.inputs[0].as<T>() + row / h.output * h.input * w.input * channels;
  T* y = run.output(0).as<T>() + row * w.output * channels;
  InnerTaps inner(window, top, channels);
  for (std::int64_t x = 0; x < w.output; ++x, y += channels) {
    const std::vector<std::int64_t>& taps = inner.of(x);
    float factor = 1;
    if constexpr (Pool::kDivides)
      factor = pool.factor(std::ssize(taps), h.padded_taps(top) * w.padded_taps(x));
    pool_pixel<Pool>({image, inner.begin(x), taps}, factor, channels, y);
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

using MaximumTypes = reference::TypeList<float, std::int8_t, std::uint8_t>;

}  // namespace

void register_nhwc_pool(KernelRegistry& registry) {
  registry.add(
      {.type = "NhwcMaxPoolV3",
       .supports = [](const Question& question) { return takes_types(question, MaximumTypes{}); },
       .run = by_type<MaximumTypes>(
           []<typename T>(const Run& run) { pool_images(run, Maximum<T>{}); })});
  registry.add({.type = "NhwcAvgPoolV2", .supports = takes_floats(1), .run = [](const Run& run) {
                  pool_images(run, Mean{run.attrs.get_int("count_include_pad", 0) != 0});
                }});
}

}  // namespace aoe::native
