// Blocks of 4 vectors by 6 rows, of 32 registers, where the processor multiplies quads in one instruction.
#include "native/products/byte_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/ceil_div.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

/// The bytes of four vectors one behind the other.
#define AOE_JOIN_TWO(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define AOE_PLACES_16 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define AOE_PLACES_32 AOE_PLACES_16, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
#define AOE_PLACES_64                                                                            \
  AOE_PLACES_32, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, \
      52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63

#define AOE_BLOCKS byte_blocks
#define AOE_BYTES 32
#define AOE_HAS_QUADS 0
#define AOE_VECTOR AOE_WIDE
#define AOE_MOST_ROWS 3
#define AOE_MOST_VECTORS 2
#define AOE_JOIN_FOUR(x)                                    \
  AOE_JOIN_TWO(AOE_JOIN_TWO((x)[0], (x)[1], AOE_PLACES_16), \
               AOE_JOIN_TWO((x)[2], (x)[3], AOE_PLACES_16), AOE_PLACES_32)
#include "native/products/byte_blocks.inc"

#if defined(__x86_64__)
#define AOE_BLOCKS long_byte_blocks
#define AOE_BYTES 64
#define AOE_HAS_QUADS 1
#define AOE_VECTOR __attribute__((target("arch=x86-64-v4,avx512vnni")))
#define AOE_MOST_ROWS 6
#define AOE_MOST_VECTORS 4
#define AOE_JOIN_FOUR(x)                                    \
  AOE_JOIN_TWO(AOE_JOIN_TWO((x)[0], (x)[1], AOE_PLACES_32), \
               AOE_JOIN_TWO((x)[2], (x)[3], AOE_PLACES_32), AOE_PLACES_64)
#include "native/products/byte_blocks.inc"
#endif

}  // namespace

void sum_products(const ByteRows& left, const ByteColumns& right, std::int64_t rows, Quad* sums) {
#if defined(__x86_64__)
  if (has_quads()) return long_byte_blocks::sum_products(left, right, rows, sums);
#endif
  byte_blocks::sum_products(left, right, rows, sums);
}

void sum_products(const ByteWindows& left, const ByteWeights& right, std::int64_t rows,
                  Quad* sums) {
#if defined(__x86_64__)
  if (has_quads()) return long_byte_blocks::sum_products(left, right, rows, sums);
#endif
  byte_blocks::sum_products(left, right, rows, sums);
}

void make_real(const Quad* sums, std::int64_t columns, float multiplier, float* to) {
#if defined(__x86_64__)
  using long_byte_blocks::kLanes;
  if (has_quads())
    return long_byte_blocks::make_real(sums, ceil_div(columns, kLanes), multiplier, to);
#endif
  byte_blocks::make_real(sums, ceil_div(columns, byte_blocks::kLanes), multiplier, to);
}

void make_bytes(const Quad* sums, std::int64_t columns, float multiplier, const ByteRange& range,
                std::uint8_t* to) {
  make_byte_rows({sums, 0}, 1, columns, &multiplier, range, to, 0);
}

void make_byte_rows(Rows<const Quad> sums, std::int64_t rows, std::int64_t columns,
                    const float* multipliers, const ByteRange& range, std::uint8_t* to,
                    std::int64_t stride) {
#if defined(__x86_64__)
  if (has_quads())
    return long_byte_blocks::make_byte_rows(sums, rows, columns, multipliers, range, to, stride);
#endif
  byte_blocks::make_byte_rows(sums, rows, columns, multipliers, range, to, stride);
}

void make_byte_columns(Rows<const Quad> sums, std::int64_t rows, std::int64_t columns,
                       const float* multipliers, const ByteRange& range, std::uint8_t* to,
                       std::int64_t stride) {
#if defined(__x86_64__)
  if (has_quads())
    return long_byte_blocks::make_byte_columns(sums, rows, columns, multipliers, range, to, stride);
#endif
  byte_blocks::make_byte_columns(sums, rows, columns, multipliers, range, to, stride);
}

AOE_WIDE void make_real_columns(Rows<const Quad> sums, std::int64_t rows, std::int64_t columns,
                                const float* multipliers, float* to, std::int64_t stride) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < columns; ++j)
      to[r * stride + j] =
          static_cast<float>(static_cast<std::int32_t>(sums.row(r)[j])) * multipliers[j];
}

}  // namespace aoe::native
