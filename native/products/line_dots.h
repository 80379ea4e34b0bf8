// Products of long lines of rows with a few columns: every row is read once, from its first element to its last, as memory likes it.
#pragma once

#include <cstdint>

#include "native/products/product.h"

namespace aoe::native {

struct LineDots {
  static constexpr std::int64_t kMost = 8;  ///< columns

  /// As many as `columns` are laid out as: a power of two.
  static std::int64_t lines_of(std::int64_t columns);

  /// sums[r][j] += the sum over i of left[r][i] * lines[j * stride + i], for i below `depth` and j below `columns`; of the lines
  /// there are lines_of(columns), those beyond them zeros.
  static void add(Rows<const float> left, std::int64_t rows, std::int64_t depth, const float* lines,
                  std::int64_t stride, Rows<float> sums, std::int64_t columns);

  /// sums[r] = the sum over i of left[r][i] * right[r][i]: rows of `length` elements, which follow each other.
  static void pairs(const float* left, const float* right, std::int64_t rows, std::int64_t length,
                    float* sums);
};

}  // namespace aoe::native
