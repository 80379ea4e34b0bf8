// Products of rounded rows with weights of 2, 4 or 8 bits: how one is cut up, and its loop nest.
//
// A first stage rounds each block of x to bytes, four to a word, with their scale and sum. Then a step is four products of
// bytes. Words of a block lie a quarter of it apart, in x and in the packed weights alike, so that both are made by whole vectors.
#pragma once

#include <cstdint>

#include "compiler/emit/integer_math.h"
#include "compiler/impl.h"
#include "reference/products/packed_weights.h"

namespace aoe::compiler {

/// A Schedule by name.
struct BytesTiling {
  std::int64_t m_block = 1;        ///< register block: rows
  std::int64_t n_vectors = 1;      ///< register block: vectors of columns
  std::int64_t word_unroll = 1;    ///< words of weights written out in the innermost body
  std::int64_t columns_outer = 0;  ///< 1: rows vary fastest between parallel iterations
};

class BytesCut {
 public:
  BytesCut(const Task& task, int lanes, bool has_vnni, const BytesTiling& tiling);
  BytesCut with(const BytesTiling& tiling) const {
    BytesCut other = *this;
    other.tiling_ = tiling;
    return other;
  }

  const reference::PackedWeights& weights() const { return weights_; }
  const BytesTiling& tiling() const { return tiling_; }
  bool has_vnni() const { return has_vnni_; }
  std::int64_t rows() const { return rows_; }
  int lanes() const { return lanes_; }
  /// Of x in a block; of weights there are as many for each element of a byte.
  std::int64_t words() const { return weights_.block / 4; }
  std::int64_t packed_words() const { return words() / weights_.per_byte(); }
  std::int64_t block_columns() const { return tiling_.n_vectors * lanes_; }
  std::int64_t column_blocks() const { return ceil_div(weights_.n, block_columns()); }
  std::int64_t row_blocks() const { return ceil_div(rows_, tiling_.m_block); }
  std::int64_t parallel_extent() const { return column_blocks() * row_blocks(); }
  /// A block of x in the workspace: its words, scale and sum.
  std::int64_t x_elements() const { return words() + 2; }
  std::int64_t workspace_elements() const { return rows_ * weights_.blocks() * x_elements(); }
  std::int64_t registers() const;
  std::int64_t body_dots() const {
    return tiling_.word_unroll * weights_.per_byte() * tiling_.n_vectors * tiling_.m_block;
  }
  double core_cycles() const;

 private:
  reference::PackedWeights weights_;
  std::int64_t rows_;
  int lanes_;
  bool has_vnni_;
  BytesTiling tiling_;
};

Kernel build_bytes_product(const Task& task, const BytesCut& cut);

}  // namespace aoe::compiler
