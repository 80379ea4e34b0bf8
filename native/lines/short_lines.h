// Lines of a few elements that follow each other: as columns of a block they fill vectors, where a line for itself fills none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/ceil_div.h"
#include "native/threads.h"

namespace aoe::native {

inline constexpr std::int64_t kShortLine = 32;  ///< elements at most
inline constexpr std::int64_t kLinesAtOnce = 128;

/// Element k of line i to to[k * kLinesAtOnce + i].
template <typename T>
void lay_as_columns(const T* lines, std::int64_t length, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < length; ++k) to[k * kLinesAtOnce + i] = lines[i * length + k];
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
                    lay_as_columns(x + first * length, length, lines, columns);
                    take(static_cast<const T*>(columns), first, lines);
                  }
                });
}

}  // namespace aoe::native
