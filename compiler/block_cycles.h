// What a register block costs on a core with two FMA and two load ports: the one formula that ranks register blocks of
// direct convolution and of matrix products.
#pragma once

#include <algorithm>

namespace aoe::compiler {

/// Cycles for `fmas` vector multiply-adds, fed by `broadcasts` elements from L1 and `streamed` vectors (weights, or B) that
/// come from L2, in `steps` dependent additions to each sum, beside `shuffle_cycles` of permuting inputs.
///
/// Measured on a Zen 5 core: a 2x4 block whose four vectors stream from L2 stays at 48% of the peak, because L2 gives a
/// 64-byte vector every two cycles; and of two blocks that both fit the ports, the one that streams less is faster.
inline double block_cycles(double fmas, double broadcasts, double streamed, double steps,
                           double shuffle_cycles = 0) {
  constexpr double kFmaLatency = 4, kCyclesPerStreamedVector = 2;
  constexpr double kBroadcastInterference = 0.05, kStreamInterference = 0.25;
  return std::max({fmas / 2, (broadcasts + streamed) / 2, steps * kFmaLatency,
                   streamed * kCyclesPerStreamedVector, shuffle_cycles}) +
         broadcasts * kBroadcastInterference + streamed * kStreamInterference;
}

}  // namespace aoe::compiler
