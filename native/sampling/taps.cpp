// Loops over points, which become gathers.
#include "native/sampling/taps.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/ceil_div.h"
#include "native/wide.h"
#include "reference/fail.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kPoints = TapBlock<float>::kPoints, kBeside = TapBlock<float>::kBeside;

template <typename T>
using BitsOf = typename TapBlock<T>::Bits;

template <typename T>
struct TapRow {
  const std::int32_t* __restrict places;
  const T* __restrict weights;
  const BitsOf<T>* __restrict masks;
};

template <typename T>
AOE_WIDE void add_row(const T* plane, const TapRow<T>& row, T* __restrict sums) {
  const auto [places, weights, masks] = row;
  for (std::int64_t i = 0; i < kPoints; ++i) {
    const auto bits = std::bit_cast<BitsOf<T>>(plane[places[i]]) & masks[i];
    sums[i] += weights[i] * std::bit_cast<T>(bits);
  }
}

template <typename T>
AOE_WIDE void raise_row(const T* plane, const TapRow<T>& row, T* __restrict sums) {
  const auto [places, weights, masks] = row;
  for (std::int64_t i = 0; i < kPoints; ++i) {
    const auto bits = std::bit_cast<BitsOf<T>>(plane[places[i]]) & masks[i];
    const T value = weights[i] * std::bit_cast<T>(bits);
    sums[i] = sums[i] < value ? value : sums[i];
  }
}

/// Row after row of `taps` rows.
template <typename T>
AOE_WIDE void sum_beside(const T* planes, const TapRow<T>& first, std::size_t taps, T* sums) {
  constexpr std::int64_t kLanes = kFloats * sizeof(float) / sizeof(T), kParts = kBeside / kLanes;
  using Vector __attribute__((vector_size(kLanes * sizeof(T)))) = T;
  using Bits __attribute__((vector_size(sizeof(Vector)))) = BitsOf<T>;
  const auto [places, weights, masks] = first;
  T points[kPoints][kBeside];
  for (std::int64_t p = 0; p < kPoints; ++p) {
    Vector sum[kParts] = {};
    for (std::size_t t = 0; t < taps; ++t) {
      const std::size_t at = t * kPoints + static_cast<std::size_t>(p);
      for (std::int64_t v = 0; v < kParts; ++v) {
        Bits bits;
        std::memcpy(&bits, planes + std::int64_t{places[at]} * kBeside + v * kLanes, sizeof bits);
        bits &= masks[at];
        sum[v] += weights[at] * reinterpret_cast<Vector>(bits);
      }
    }
    std::memcpy(points[p], sum, sizeof sum);
  }
  for (std::int64_t c = 0; c < kBeside; ++c)
    for (std::int64_t p = 0; p < kPoints; ++p) sums[c * kPoints + p] = points[p][c];
}

/// to[i][c] = image[c][i] of elements [begin, end); channels that are missing are zeros.
template <typename T>
AOE_WIDE void lay_beside(const T* image, std::int64_t channels, std::int64_t plane,
                         std::int64_t begin, std::int64_t end, T* __restrict to) {
  if (channels >= kBeside) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t c = 0; c < kBeside; ++c) to[i * kBeside + c] = image[c * plane + i];
    return;
  }
  std::fill(to + begin * kBeside, to + end * kBeside, T{0});
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = begin; i < end; ++i) to[i * kBeside + c] = image[c * plane + i];
}

}  // namespace

template <typename T>
TapBlock<T>::TapBlock(std::size_t most)
    : places_(most * kPoints), weights_(most * kPoints), masks_(most * kPoints) {
}

template <typename T>
void TapBlock<T>::clear() {
  const std::size_t count = used_ * kPoints;
  std::fill_n(places_.begin(), count, 0);
  std::fill_n(weights_.begin(), count, T{0});
  std::fill_n(masks_.begin(), count, 0);
  used_ = 0;
}

template <typename T>
void TapBlock<T>::add(const T* plane, Sums& sums) const {
  for (std::size_t row = 0; row < used_ * kPoints; row += kPoints)
    add_row<T>(plane, {&places_[row], &weights_[row], &masks_[row]}, sums.data());
}

template <typename T>
void TapBlock<T>::sum(const T* planes, BesideSums& sums) const {
  sum_beside<T>(planes, {places_.data(), weights_.data(), masks_.data()}, used_,
                sums.front().data());
}

template <typename T>
void TapBlock<T>::raise(const T* plane, Sums& sums) const {
  for (std::size_t row = 0; row < used_ * kPoints; row += kPoints)
    raise_row<T>(plane, {&places_[row], &weights_[row], &masks_[row]}, sums.data());
}

template <typename T>
PlanesBeside<T>::PlanesBeside(const T* image, std::int64_t groups, std::int64_t channels,
                              std::int64_t plane, Threads& threads)
    : blocks_(ceil_div(channels, kBeside)),
      plane_(plane),
      data_(new T[static_cast<std::size_t>(groups * blocks_ * plane * kBeside)]) {
  threads.share(groups * blocks_ * plane, kBeside * 0.3, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t number = begin / plane, group = number / blocks_;
      const std::int64_t first = number % blocks_ * kBeside;
      const std::int64_t until = std::min(end, (number + 1) * plane);
      lay_beside(image + (group * channels + first) * plane, channels - first, plane,
                 begin - number * plane, until - number * plane,
                 data_.get() + number * plane * kBeside);
      begin = until;
    }
  });
}

template class TapBlock<float>;
template class TapBlock<double>;
template class PlanesBeside<float>;
template class PlanesBeside<double>;

void check_plane(std::int64_t elements) {
  if (elements > std::numeric_limits<std::int32_t>::max())
    reference::fail_model("a plane of " + std::to_string(elements) + " elements is too large");
}

}  // namespace aoe::native
