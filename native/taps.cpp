// Loops over points, which become gathers.
#include "native/taps.h"

#include <algorithm>
#include <bit>
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

void TapBlock::set(std::size_t tap, std::int64_t point, std::int64_t place, double weight) {
  used_ = std::max(used_, tap + 1);
  const std::size_t at = tap * kPoints + static_cast<std::size_t>(point);
  places_[at] = static_cast<std::int32_t>(place);
  weights_[at] = static_cast<float>(weight);
  masks_[at] = -1;
}

void TapBlock::add(const float* plane, Sums& sums) const {
  for (std::size_t row = 0; row < used_ * kPoints; row += kPoints)
    add_row(plane, {&places_[row], &weights_[row], &masks_[row]}, sums.data());
}

void TapBlock::raise(const float* plane, Sums& sums) const {
  for (std::size_t row = 0; row < used_ * kPoints; row += kPoints)
    raise_row(plane, {&places_[row], &weights_[row], &masks_[row]}, sums.data());
}

void check_plane(std::int64_t elements) {
  if (elements > std::numeric_limits<std::int32_t>::max())
    reference::fail_model("a plane of " + std::to_string(elements) + " elements is too large");
}

}  // namespace aoe::native
