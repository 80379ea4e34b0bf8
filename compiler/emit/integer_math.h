// Integer arithmetic that every tiling needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/ceil_div.h"

namespace aoe::compiler {

/// 1, 2, 4, ... up to and with `limit`.
inline std::vector<std::int64_t> powers_of_two(std::int64_t limit) {
  std::vector<std::int64_t> values;
  for (std::int64_t v = 1; v <= limit; v *= 2) values.push_back(v);
  return values;
}

/// Those of `values` that are at most `limit`.
inline std::vector<std::int64_t> up_to(std::int64_t limit, std::vector<std::int64_t> values) {
  std::erase_if(values, [&](std::int64_t value) { return value > limit; });
  return values;
}

/// Block sizes up to `limit` of which no smaller one cuts `extent` into as few blocks.
inline std::vector<std::int64_t> least_blocks(std::int64_t extent, std::int64_t limit) {
  std::vector<std::int64_t> blocks;
  for (std::int64_t block = 1; block <= std::min(extent, limit); ++block)
    if (ceil_div(extent, ceil_div(extent, block)) == block) blocks.push_back(block);
  return blocks;
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
