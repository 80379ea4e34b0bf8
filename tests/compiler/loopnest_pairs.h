// Pairs of 16 bits and quads of bytes, each in a lane of 32, in the interpreter of loop nests (loopnest_eval.h).
#pragma once

#include "reference/elements/arithmetic.h"
#include "tests/compiler/loopnest_lanes.h"

namespace aoe::compiler::loopnest {

Integers pair_f16(const Lanes& a);
Lanes half_f16(const Integers& pairs, int shift);
Integers fma_f16(const Integers& a, const Integers& b, Integers sum);
template <typename Sources>
Sources pick(const Integers& places, Sources sources, const Sources& behind) {
  sources.insert(sources.end(), behind.begin(), behind.end());
  Sources picked;
  for (const std::int32_t place : places)
    picked.push_back(sources[static_cast<std::uint32_t>(place) % sources.size()]);
  return picked;
}

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
