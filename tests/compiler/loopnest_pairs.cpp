// See loopnest_pairs.h.
#include "tests/compiler/loopnest_pairs.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/elements/float16.h"

namespace aoe::compiler::loopnest {
namespace {

float half_f16(std::int32_t pair, int shift) {
  reference::Float16 half;
  half.bits = static_cast<std::uint16_t>(static_cast<std::uint32_t>(pair) >> shift);
  return static_cast<float>(half);
}

}  // namespace

Integers pair_f16(const Lanes& a) {
  Integers pairs;
  for (const float x : a) {
    const std::uint32_t half = reference::Float16(x).bits;
    pairs.push_back(static_cast<std::int32_t>(half | half << 16));
  }
  return pairs;
}

Lanes half_f16(const Integers& pairs, int shift) {
  Lanes halves;
  for (const std::int32_t pair : pairs) halves.push_back(half_f16(pair, shift));
  return halves;
}

Integers fma_f16(const Integers& a, const Integers& b, Integers sum) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    std::uint32_t bits = 0;
    for (const int shift : {0, 16}) {
      const float x = half_f16(a[i], shift), y = half_f16(b[i], shift);
      const float z = std::fma(x, y, half_f16(sum[i], shift));
      bits |= std::uint32_t{reference::Float16(z).bits} << shift;
    }
    sum[i] = static_cast<std::int32_t>(bits);
  }
  return sum;
}

}  // namespace aoe::compiler::loopnest
