// Integer arithmetic that every tiling needs.
#pragma once

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

}  // namespace aoe::compiler
