// Which rows of a matrix share a set of the level-1 cache.
#pragma once

#include <algorithm>
#include <numeric>

#include "compiler/emit/integer_math.h"
#include "compiler/soc.h"

namespace aoe::compiler {

/// Whether a block that reads `rows` rows side by side, `stride_bytes` apart, loses their lines before it has used them: rows
/// that lie a multiple of 4 KiB apart share one set, which has as many ways as the cache has pages. Two ways are left to
/// what streams by. (Zen 4, 32 KiB: 1576x3072 by 3072x768 in blocks of 14 rows took 89 ms, in blocks that stay 71.)
inline bool do_rows_collide(const Soc& soc, std::int64_t stride_bytes, std::int64_t rows) {
  constexpr std::int64_t kLine = 64, kSets = 64;  // the index is within a page, as on all x86-64
  if (stride_bytes <= 0 || stride_bytes % kLine != 0) return false;
  const std::int64_t ways = soc.l1d_bytes / (kLine * kSets);
  const std::int64_t sets = kSets / std::gcd(stride_bytes / kLine, kSets);
  return ceil_div(rows, sets) > std::max<std::int64_t>(1, ways - 2);
}

}  // namespace aoe::compiler
