// Integer arithmetic that every tiling needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace aoe::compiler {

/// Blocks of `b` that cover `a`; for a >= 0, b > 0.
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// 1, 2, 4, ... up to and with `limit`.
inline std::vector<std::int64_t> powers_of_two(std::int64_t limit) {
  std::vector<std::int64_t> values;
  for (std::int64_t v = 1; v <= limit; v *= 2) values.push_back(v);
  return values;
}

/// Ascending block sizes up to `limit` that cut `extent` into equal parts as nearly as possible.
inline std::vector<std::int64_t> even_blocks(std::int64_t extent, std::int64_t limit) {
  std::vector<std::int64_t> blocks;
  for (std::int64_t block = 1; block <= std::min(extent, limit); ++block) {
    const bool is_even = ceil_div(extent, ceil_div(extent, block)) == block;
    if (is_even || block == limit) blocks.push_back(block);
  }
  return blocks;
}

}  // namespace aoe::compiler
