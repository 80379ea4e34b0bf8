// What a register block costs on a core with two FMA and two load ports: the one formula that ranks register blocks of
// direct convolution and of matrix products.
#pragma once

#include <algorithm>
#include <cstdint>

namespace aoe::compiler {

/// Vectors of 64 bytes, whose multiply-adds take one factor from memory in all lanes; of shorter ones that needs a register and a
/// load of its own.
constexpr bool are_broadcasts_operands(std::int64_t vector_bytes) {
  return vector_bytes >= 64;
}

/// Registers that the factors of a block take besides its sums: one for each of its vectors, and the broadcast element, which a
/// single vector takes from memory where it can.
constexpr std::int64_t factor_registers(std::int64_t vectors, std::int64_t vector_bytes) {
  return vectors + (vectors > 1 || !are_broadcasts_operands(vector_bytes) ? 1 : 0);
}

/// Cycles for `fmas` multiply-adds of vectors of `vector_bytes`, fed by `broadcasts` elements from L1 and `streamed` vectors
/// (weights, or B) that come from L2, in `steps` dependent additions to each sum, beside `shuffle_cycles` of permuting inputs.
///
/// Measured on a Zen 5 core: a 2x4 block whose four vectors stream from L2 stays at 48% of the peak, because L2 gives a
/// 64-byte vector every two cycles; and of two blocks that both fit the ports, the one that streams less is faster. On a Zen 3
/// core, whose vectors have 32 bytes: 1x12 and 1x11 take 9.3 and 8.1 cycles, 2x6, 2x4 and 3x4 6.9, 4.7 and 7.6.
inline double block_cycles(std::int64_t vector_bytes, double fmas, double broadcasts,
                           double streamed, double steps, double shuffle_cycles = 0) {
  constexpr double kFmaLatency = 4, kL2BytesPerCycle = 32;
  constexpr double kBroadcastInterference = 0.05, kStreamInterference = 0.25;
  const double loads_per_cycle = are_broadcasts_operands(vector_bytes) ? 2 : 1.4;
  const double streaming = streamed * static_cast<double>(vector_bytes) / kL2BytesPerCycle;
  return std::max({fmas / 2, (broadcasts + streamed) / loads_per_cycle, steps * kFmaLatency,
                   streaming, shuffle_cycles}) +
         broadcasts * kBroadcastInterference + streamed * kStreamInterference;
}

}  // namespace aoe::compiler
