// Products of bytes whose right factor lies as the kernel has it, in vectors of quads, and what becomes of their sums: each is a number,
// a real one or a byte while it is in the cache.
#pragma once

#include <cstdint>

#include "native/products/product.h"

namespace aoe::native {

inline constexpr std::int64_t kByteColumns = 64;  ///< at a time, at most

/// Rows of the left factor: quads of bytes with a sign.
struct ByteRows {
  const Quad* data;
  std::int64_t stride, length;  ///< from row to row; of one
  const Quad* starts;           ///< what the sums of each begin with

  ByteRows from(std::int64_t row) const {
    return {data + row * stride, stride, length, starts + row};
  }
};

/// Columns of the right factor: quads of bytes without a sign, step i at data + reads[i]. Whole vectors are read: up to 15 behind the last.
struct ByteColumns {
  const Quad* data;
  const std::int64_t* reads;
  std::int64_t columns;
};

/// Rows of the left factor whose bytes have no sign: step i of row r is a quad at rows[r] + reads[i].
struct ByteWindows {
  const std::uint8_t* const* rows;
  const std::int64_t* reads;
  std::int64_t steps;
};

/// Columns of the right factor: quads of bytes with a sign, step by step, and what the sums of each begin with. Whole vectors are read of
/// both.
struct ByteWeights {
  const Quad* data;
  std::int64_t stride;
  const Quad* starts;
  std::int64_t columns;
};

/// How real numbers become bytes: cut to low and high, divided, cut to what bytes have less their zero point.
struct ByteRange {
  float low, high, scale, least, most;
  std::int32_t zero;
};

/// sums[r * kByteColumns + j] = where row r's begin and the products of row r and column j, of `rows` rows and as many columns as whole vectors
/// have.
void sum_products(const ByteRows& left, const ByteColumns& right, std::int64_t rows, Quad* sums);

/// sums[r * kByteColumns + j] = where column j's begin and the products of row r and column j, the same.
void sum_products(const ByteWindows& left, const ByteWeights& right, std::int64_t rows, Quad* sums);

/// to[j] = sums[j] * multiplier, of so many columns and what completes vectors.
void make_real(const Quad* sums, std::int64_t columns, float multiplier, float* to);
/// The same as bytes: rounded, halves to even numbers; NaN is 0.
void make_bytes(const Quad* sums, std::int64_t columns, float multiplier, const ByteRange& range,
                std::uint8_t* to);
/// Of rows of sums, each by its multiplier, and those of bytes `stride` behind each other.
void make_byte_rows(Rows<const Quad> sums, std::int64_t rows, std::int64_t columns,
                    const float* multipliers, const ByteRange& range, std::uint8_t* to,
                    std::int64_t stride);

/// Of rows of sums whose columns have multipliers, which are read in whole vectors, and no more than `columns` of each row.
void make_byte_columns(Rows<const Quad> sums, std::int64_t rows, std::int64_t columns,
                       const float* multipliers, const ByteRange& range, std::uint8_t* to,
                       std::int64_t stride);
void make_real_columns(Rows<const Quad> sums, std::int64_t rows, std::int64_t columns,
                       const float* multipliers, float* to, std::int64_t stride);

}  // namespace aoe::native
