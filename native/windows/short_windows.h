// Windows of so few factors, as those of a network's first convolution, that a row of pixels whose channels come last is summed up at
// once: sums stay in registers over all rows of the window.
#pragma once

#include <cstdint>
#include <span>

namespace aoe::native {

/// What a row of the window reads for the first pixel, and its weights: a row of `channels` for each factor.
struct ShortWindowRow {
  const float *from, *weights;
};

struct ShortWindows {
  std::span<const ShortWindowRow> rows;
  std::int64_t length;  ///< factors of a row
  std::int64_t step;    ///< from what a pixel reads to what the next one reads
  const float* bias;    ///< null: none
  std::int64_t pixels, channels;
  float* to;
};

/// Factors of all rows: what a near cache has of the weights of a vector or two of channels.
constexpr std::int64_t kMostOfShortWindow = 256;

/// False: of fewer channels than a vector has.
bool sum_short_windows(const ShortWindows& windows);

}  // namespace aoe::native
