// Depthwise windows over rows of pixels whose channels come last.
#pragma once

#include <array>
#include <cstdint>

#include "native/products/row_ending.h"

namespace aoe::native {

/// A row of the window inside of the image: the row of pixels that it reads, and the weights of its first tap.
struct DepthwiseTapRow {
  const float *from, *weights;
};

/// Those of one row of outputs.
struct DepthwiseRows {
  static constexpr int kMost = 32;
  std::array<DepthwiseTapRow, kMost> tap_rows;
  int count = 0;
};

/// Rows of outputs of one image, one below the other.
struct DepthwiseBand {
  static constexpr int kMostRows = 4;

  int rows = 0;
  std::array<DepthwiseRows, kMostRows> taps = {};  ///< by row of outputs
  const float* bias = nullptr;
  std::int64_t channels = 0, width = 0, outputs = 0;  ///< pixels of a row that is read and made
  std::int64_t pad = 0;                               ///< before the first
  float* to = nullptr;
  std::int64_t to_stride = 0;
  RowEnding ending = {};
};

/// By windows of so many taps side by side. False: of those that there is no code for.
bool sum_depthwise(const DepthwiseBand& band, std::int64_t taps, std::int64_t stride);

}  // namespace aoe::native
