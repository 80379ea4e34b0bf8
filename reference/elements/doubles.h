// Memory for numbers in float64, eight bytes for each element however small its type: asked for before it is taken.
#pragma once

#include <cstddef>
#include <vector>

#include "base/memory.h"

namespace aoe::reference {

/// Throws OutOfMemory when there is not so much memory.
inline void check_doubles(std::size_t count) {
  check_memory(count * sizeof(double), "its numbers in float64");
}

/// So many zeros.
inline std::vector<double> doubles(std::size_t count) {
  check_doubles(count);
  return std::vector<double>(count);
}

}  // namespace aoe::reference
