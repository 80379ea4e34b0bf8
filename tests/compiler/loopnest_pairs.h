// Pairs of 16 bits and quads of bytes, each in a lane of 32, in the interpreter of loop nests (loopnest_eval.h).
#pragma once

#include "tests/compiler/loopnest_lanes.h"

namespace aoe::compiler::loopnest {

Integers pack_bf16(Lanes low, const Lanes& high);
float dot_bf16(std::int32_t a, std::int32_t b, float sum);
Lanes dot_bf16(const Integers& a, const Integers& b, Lanes sum);
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
std::int32_t dot_u8s8(std::int32_t a, std::int32_t b, std::int32_t sum);
Integers dot_u8s8(const Integers& a, const Integers& b, Integers sum);
Integers dot_i16(const Integers& a, const Integers& b, Integers sum);

}  // namespace aoe::compiler::loopnest
