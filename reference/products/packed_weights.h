// PackedWeights: weights of 2, 4 or 8 bits in blocks with a scale each, as WeightQuantBatchMatmulV2 reads them: row n of the
// transposed right factor, densely packed, the first element of a byte in its lowest bits.
#pragma once

#include <bit>
#include <cstdint>

#include "base/ceil_div.h"
#include "base/tensor.h"
#include "reference/attrs.h"

namespace aoe::reference {

/// Inputs of WeightQuantBatchMatmulV2.
enum PackedInput : std::size_t { kPackedX, kPackedWeight, kPackedScale, kPackedZero, kPackedBias };

struct PackedWeights {
  std::int64_t n = 0, k = 0, bits = 4, block = 32;

  std::int64_t blocks() const { return ceil_div(k, block); }
  std::int64_t per_byte() const { return 8 / bits; }
  std::int64_t block_bytes() const { return block / per_byte(); }
  std::int64_t row_bytes() const { return blocks() * block_bytes(); }
  /// Of packed zero points.
  std::int64_t zero_row_bytes() const { return (blocks() * bits + 7) / 8; }
  /// What stands for zero where there are no zero points: the middle of the range.
  int middle() const { return 1 << (bits - 1); }

  /// Element `i` of a dense row of small integers.
  int at(const std::uint8_t* row, std::int64_t i) const {
    const std::int64_t bit = i * bits;
    return (row[bit / 8] >> (bit % 8)) & ((1 << bits) - 1);
  }

  /// Blocks of x with nothing larger are rounded to zeros.
  static constexpr float kSmallest = 1e-30F;

  static bool are_bits(std::int64_t bits) { return bits == 2 || bits == 4 || bits == 8; }
  static bool is_block(std::int64_t block) {
    return block >= 16 && std::has_single_bit(static_cast<std::uint64_t>(block));
  }
};

/// Whether x is rounded before it is multiplied, each block that meets one scale apart: to 127 steps of its largest magnitude either way.
inline bool rounds_x(const Attrs& attrs) {
  return attrs.get_int("rounds_x", 0) != 0;
}

/// Of a call whose attributes its rule has accepted. Dimensions may be unknown.
inline PackedWeights packed_weights(const Attrs& attrs, const Shape& x, const Shape& weight) {
  return {.n = weight[0],
          .k = x.back(),
          .bits = attrs.get_int("bits", 4),
          .block = attrs.get_int("block_size", 32)};
}

}  // namespace aoe::reference
