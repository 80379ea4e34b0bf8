// The loop nest of attention for few queries, as a language model has them that writes word by word: all queries of the
// heads that share a key head go through the keys once, in chunks that run side by side; the chunks' softmaxes are put
// together behind them. Source: T. Dao, D. Haziza, F. Massa, G. Sizov, "Flash-Decoding for long-context inference", 2023.
//
// Vectors run along the depth for scores of keys that lie by rows, whose lanes are summed for a vector of keys at a time;
// along keys where these lie so, for the softmax; along the columns of the values for the second product.
#pragma once

#include <cstdint>

#include "compiler/impl.h"
#include "reference/products/attention.h"

namespace aoe::compiler {

/// A Schedule of `flash_decoding` by name.
struct DecodingTiling {
  std::int64_t chunks = 1;      ///< parts of the keys
  std::int64_t v_vectors = 1;   ///< register block of the second product: vectors of columns
  std::int64_t key_unroll = 1;  ///< steps of the second product written out
};

/// An attention of few queries cut up for one tiling. A row is a query of one of the heads that read the same keys and values:
/// those of the last batch dimensions, in which neither moves.
class DecodingCut {
 public:
  DecodingCut(const reference::AttentionShape& shape, int lanes, const DecodingTiling& tiling);

  const reference::AttentionShape& shape() const { return shape_; }
  const DecodingTiling& tiling() const { return tiling_; }
  int lanes() const { return lanes_; }
  std::int64_t sharing() const { return sharing_; }  ///< heads that read the same keys
  std::int64_t rows() const { return sharing_ * shape_.queries; }
  std::int64_t groups() const { return shape_.batches() / sharing_; }
  std::int64_t chunk_keys() const;  ///< but the last's; whole vectors
  std::int64_t value_vectors() const;
  std::int64_t parallel_extent() const { return groups() * tiling_.chunks; }
  std::int64_t scratch_bytes() const;
  std::int64_t body_fmas() const;  ///< multiply-adds that the code spells out
  double core_cycles() const;      ///< of the whole task on one core

  // The workspace, where there are several chunks: of each group and chunk, the sums of each row, then maxima and sums of weights.
  std::int64_t chunk_floats() const { return rows() * (value_vectors() + 2) * lanes_; }

 private:
  reference::AttentionShape shape_;
  int lanes_;
  DecodingTiling tiling_;
  std::int64_t sharing_;
};

Kernel build_flash_decoding(const Task& task, const DecodingCut& cut);

}  // namespace aoe::compiler
