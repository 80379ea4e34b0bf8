// Products with weights of 2, 4 or 8 bits, read packed: how one is cut up, and its loop nest.
//
// A block of the output is m_block rows x n_vectors vectors of columns in registers. A byte of the packed weights holds
// neighbouring elements of a column; a vector of bytes becomes vectors of weights, q * scale - zero * scale, each of which
// meets one element of each row. Of few rows, weights are unpacked anew for each m_block of them, in registers; of many, as
// in a long prompt, a block of columns is unpacked once, into a panel in scratch memory, for panel_rows of them.
//
// Of the very fewest rows, sums of q * x are made for each block of weights that shares a scale, and scaled then: one
// multiplication a weight instead of two.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compiler/emit/integer_math.h"
#include "compiler/impl.h"
#include "reference/products/packed_weights.h"

namespace aoe::compiler {

/// A Schedule by name.
struct PackedTiling {
  std::int64_t m_block = 1;        ///< register block: rows
  std::int64_t n_vectors = 1;      ///< register block: vectors of columns
  std::int64_t byte_unroll = 1;    ///< bytes of a column written out in the innermost body
  std::int64_t columns_outer = 0;  ///< 1: rows vary fastest between parallel iterations
  std::int64_t panel_rows = 0;     ///< that share a panel; 0: none, weights stay in registers
};

class PackedCut {
 public:
  PackedCut(const Task& task, int lanes, const PackedTiling& tiling);
  PackedCut with(const PackedTiling& tiling) const {
    PackedCut other = *this;
    other.tiling_ = tiling;
    return other;
  }

  const reference::PackedWeights& weights() const { return weights_; }
  const PackedTiling& tiling() const { return tiling_; }
  std::int64_t rows() const { return rows_; }
  int lanes() const { return lanes_; }
  std::int64_t block_columns() const { return tiling_.n_vectors * lanes_; }
  std::int64_t column_blocks() const { return ceil_div(weights_.n, block_columns()); }
  std::int64_t row_blocks() const { return ceil_div(rows_, tiling_.m_block); }
  bool has_panel() const { return tiling_.panel_rows > 0; }
  /// Blocks of rows that one parallel iteration goes through.
  std::int64_t group_blocks() const {
    return has_panel() ? std::max<std::int64_t>(1, tiling_.panel_rows / tiling_.m_block) : 1;
  }
  std::int64_t row_groups() const { return ceil_div(row_blocks(), group_blocks()); }
  std::int64_t parallel_extent() const { return column_blocks() * row_groups(); }
  std::int64_t panel_elements() const { return has_panel() ? weights_.k * block_columns() : 0; }
  /// Whether sums are scaled once a block of weights, rather than weights.
  bool scales_sums() const;
  /// Sums; of a block, or its scales and shifts; and what is unpacked.
  std::int64_t registers() const;
  std::int64_t body_fmas() const {
    return tiling_.byte_unroll * weights_.per_byte() * tiling_.n_vectors * (tiling_.m_block + 1);
  }
  /// Bytes of a column, padding included, for a whole block of columns.
  std::int64_t column_bytes() const { return weights_.row_bytes(); }

  double core_cycles() const;

 private:
  reference::PackedWeights weights_;
  std::int64_t rows_;
  int lanes_;
  PackedTiling tiling_;
};

/// Whether weights, scales and zero points are such constants.
Result<void> supports_packed(const Task& task);

Kernel build_packed_product(const Task& task, const PackedCut& cut);

}  // namespace aoe::compiler
