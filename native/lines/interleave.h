// Few lines taking turns, element by element, as the channels of pictures do; and apart again.
#pragma once

#include <cstdint>

#include "native/wide.h"

namespace aoe::native {

inline constexpr std::int64_t kMostInterleaved = 4;

/// to[i * kLines + k] = from[k * step + i]. With as many lines as the template says compilers have permutations for it.
template <std::int64_t kLines, typename Word>
AOE_WIDE void interleave(const Word* __restrict from, std::int64_t step, Word* __restrict to,
                         std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < kLines; ++k) to[i * kLines + k] = from[k * step + i];
}

/// to[k * step + i] = from[i * kLines + k]
template <std::int64_t kLines, typename Word>
AOE_WIDE void deinterleave(const Word* __restrict from, std::int64_t step, Word* __restrict to,
                           std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < kLines; ++k) to[k * step + i] = from[i * kLines + k];
}

/// Calls f<kLines>() for up to kMostInterleaved lines.
template <typename F>
void with_lines(std::int64_t lines, F&& f) {
  if (lines == 1) f.template operator()<1>();
  if (lines == 2) f.template operator()<2>();
  if (lines == 3) f.template operator()<3>();
  if (lines == 4) f.template operator()<4>();
}

}  // namespace aoe::native
