// Loops over points, which become gathers.
#include "native/taps.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "native/wide.h"
#include "reference/fail.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kPoints = TapBlock::kPoints;

struct TapRow {
  const std::int32_t* __restrict places;
  const float* __restrict weights;
  const std::int32_t* __restrict masks;
};

AOE_WIDE void add_row(const float* plane, const TapRow& row, float* __restrict sums) {
  const auto [places, weights, masks] = row;
  for (std::int64_t i = 0; i < kPoints; ++i) {
    const auto bits = std::bit_cast<std::int32_t>(plane[places[i]]) & masks[i];
    sums[i] += weights[i] * std::bit_cast<float>(bits);
  }
}

AOE_WIDE void raise_row(const float* plane, const TapRow& row, float* __restrict sums) {
  const auto [places, weights, masks] = row;
  for (std::int64_t i = 0; i < kPoints; ++i) {
    const auto bits = std::bit_cast<std::int32_t>(plane[places[i]]) & masks[i];
    const float value = weights[i] * std::bit_cast<float>(bits);
    sums[i] = sums[i] < value ? value : sums[i];
  }
}

constexpr std::int64_t kBeside = TapBlock::kBeside;
static_assert(kBeside == kFloats);

/// Row after row of `taps` rows.
AOE_WIDE void sum_beside(const float* planes, const TapRow& first, std::size_t taps, float* sums) {
  using Bits __attribute__((vector_size(sizeof(Floats)))) = std::int32_t;
  const auto [places, weights, masks] = first;
  float points[kPoints][kBeside];
  for (std::int64_t p = 0; p < kPoints; ++p) {
    Floats sum = {};
    for (std::size_t t = 0; t < taps; ++t) {
      const std::size_t at = t * kPoints + static_cast<std::size_t>(p);
      Bits bits;
      std::memcpy(&bits, planes + std::int64_t{places[at]} * kBeside, sizeof bits);
      bits &= masks[at];
      sum += weights[at] * reinterpret_cast<Floats>(bits);
    }
    std::memcpy(points[p], &sum, sizeof sum);
  }
  for (std::int64_t c = 0; c < kBeside; ++c)
    for (std::int64_t p = 0; p < kPoints; ++p) sums[c * kPoints + p] = points[p][c];
}

/// to[i][c] = image[c][i] of elements [begin, end); channels that are missing are zeros.
AOE_WIDE void lay_beside(const float* image, std::int64_t channels, std::int64_t plane,
                         std::int64_t begin, std::int64_t end, float* __restrict to) {
  if (channels >= kBeside) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t c = 0; c < kBeside; ++c) to[i * kBeside + c] = image[c * plane + i];
    return;
  }
  std::fill(to + begin * kBeside, to + end * kBeside, 0.0f);
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = begin; i < end; ++i) to[i * kBeside + c] = image[c * plane + i];
}

}  // namespace

TapBlock::TapBlock(std::size_t most)
    : places_(most * kPoints), weights_(most * kPoints), masks_(most * kPoints) {
}

void TapBlock::clear() {
  const std::size_t count = used_ * kPoints;
  std::fill_n(places_.begin(), count, 0);
  std::fill_n(weights_.begin(), count, 0.0f);
  std::fill_n(masks_.begin(), count, 0);
  used_ = 0;
}

void TapBlock::add(const float* plane, Sums& sums) const {
  for (std::size_t row = 0; row < used_ * kPoints; row += kPoints)
    add_row(plane, {&places_[row], &weights_[row], &masks_[row]}, sums.data());
}

void TapBlock::sum(const float* planes, BesideSums& sums) const {
  sum_beside(planes, {places_.data(), weights_.data(), masks_.data()}, used_, sums.front().data());
}

void TapBlock::raise(const float* plane, Sums& sums) const {
  for (std::size_t row = 0; row < used_ * kPoints; row += kPoints)
    raise_row(plane, {&places_[row], &weights_[row], &masks_[row]}, sums.data());
}

PlanesBeside::PlanesBeside(const float* image, std::int64_t groups, std::int64_t channels,
                           std::int64_t plane, Threads& threads)
    : blocks_((channels + kBeside - 1) / kBeside),
      plane_(plane),
      data_(new float[static_cast<std::size_t>(groups * blocks_ * plane * kBeside)]) {
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

void check_plane(std::int64_t elements) {
  if (elements > std::numeric_limits<std::int32_t>::max())
    reference::fail_model("a plane of " + std::to_string(elements) + " elements is too large");
}

}  // namespace aoe::native
