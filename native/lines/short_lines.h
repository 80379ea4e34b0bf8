// Lines of a few elements that follow each other: as columns of a block they fill vectors, where a line for itself fills none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/ceil_div.h"
#include "native/lines/transpose_block.h"
#include "native/threads.h"
#include "native/wide.h"

namespace aoe::native {

inline constexpr std::int64_t kShortLine = 32;  ///< elements at most
inline constexpr std::int64_t kLinesAtOnce = 128;

/// to[k * to_stride + i] = from[i * stride + k], for i < rows and k < columns. Blocks of four bytes are permutations of vectors, of which the
/// last overlap.
template <typename T>
AOE_WIDE void turn(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                   T* to, std::int64_t to_stride) {
  if constexpr (sizeof(T) == sizeof(float)) {
    if (rows >= kFloats && columns >= kFloats) {
      for (std::int64_t row = 0; row < rows; row += kFloats)
        for (std::int64_t column = 0; column < columns; column += kFloats) {
          const std::int64_t i = std::min(row, rows - kFloats),
                             k = std::min(column, columns - kFloats);
          transpose_block(from + i * stride + k, stride, to + k * to_stride + i, to_stride);
        }
      return;
    }
  }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < columns; ++k) to[k * to_stride + i] = from[i * stride + k];
}

/// take(columns, first, count): `count` lines from `first` on, as columns that lie kLinesAtOnce apart.
template <typename T, typename Take>
void for_each_short_line(const T* x, std::int64_t length, std::int64_t count, Threads& threads,
                         const Take& take) {
  const std::int64_t blocks = ceil_div(count, kLinesAtOnce);
  threads.share(blocks, static_cast<double>(length * kLinesAtOnce),
                [&](std::int64_t begin, std::int64_t end) {
                  T columns[kShortLine * kLinesAtOnce];
                  for (std::int64_t block = begin; block < end; ++block) {
                    const std::int64_t first = block * kLinesAtOnce;
                    const std::int64_t lines = std::min(kLinesAtOnce, count - first);
                    turn(x + first * length, length, lines, length, columns, kLinesAtOnce);
                    take(static_cast<const T*>(columns), first, lines);
                  }
                });
}

}  // namespace aoe::native
