// Dot products of narrow lanes in the interpreter of loop nests (loopnest_eval.h).
#pragma once

#include "reference/elements/arithmetic.h"
#include "tests/compiler/loopnest_lanes.h"

namespace aoe::compiler::loopnest {

/// What the products of neighbours add to a sum: as many of them as are a word.
template <typename A, typename B, typename Sum>
Sum dot(const A* a, const B* b, Sum sum) {
  for (std::size_t k = 0; k < 4 / sizeof(A); ++k)
    sum = reference::add(sum, static_cast<Sum>(a[k]) * static_cast<Sum>(b[k]));
  return sum;
}
template <typename A, typename B, typename Sum>
LanesOf<Sum> dot(const LanesOf<A>& a, const LanesOf<B>& b, LanesOf<Sum> sums) {
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = dot(&a[i * 4 / sizeof(A)], &b[i * 4 / sizeof(A)], sums[i]);
  return sums;
}

}  // namespace aoe::compiler::loopnest
