// The loop nest of attention: for a tile of queries of one head, scores of a block of keys, their softmax, and the
// product with the values; the scores of a block never leave the cache.
//
// Vectors run along queries as long as scores are scores, so that softmax needs no sums across lanes: scores are sums of
// vectors of the transposed queries (packed once per tile) times single elements of the keys, which are read where they
// lie. Vectors run along the columns of the values afterwards: single weights times rows of the values.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "compiler/impl.h"
#include "reference/products/attention.h"

namespace aoe::compiler {

/// A Schedule of `attention` by name.
struct AttentionTiling {
  std::int64_t q_vectors = 1;     ///< vectors of queries in a tile
  std::int64_t key_group = 1;     ///< keys whose scores are summed up in registers at a time
  std::int64_t key_block = 0;     ///< keys per softmax; 0 = all. Sums are rescaled between blocks
  std::int64_t row_group = 1;     ///< register block of the second product: rows
  std::int64_t v_vectors = 1;     ///< register block of the second product: vectors of columns
  std::int64_t depth_unroll = 1;  ///< steps of the first product written out
  std::int64_t key_unroll = 1;    ///< steps of the second product written out
};

/// A FlashAttentionScore of float32 with static shapes; the reason why not otherwise.
Result<reference::AttentionShape> attention_shape_of(const Task& task);
bool has_mask(const Task& task);

/// An attention cut up for one tiling.
class AttentionCut {
 public:
  AttentionCut(const reference::AttentionShape& shape, int lanes, const AttentionTiling& tiling);

  const reference::AttentionShape& shape() const { return shape_; }
  const AttentionTiling& tiling() const { return tiling_; }
  int lanes() const { return lanes_; }
  std::int64_t vector_bytes() const { return lanes_ * std::int64_t{sizeof(float)}; }
  std::int64_t tile_rows() const { return tiling_.q_vectors * lanes_; }
  std::int64_t full_tiles() const { return shape_.queries / tile_rows(); }
  std::int64_t rest_rows() const { return shape_.queries % tile_rows(); }  ///< of a smaller tile
  std::int64_t tiles() const { return full_tiles() + (rest_rows() > 0 ? 1 : 0); }
  std::int64_t keys_per_block() const;
  std::int64_t blocks() const;
  std::int64_t value_vectors() const;
  std::int64_t parallel_extent() const { return shape_.batches() * tiles(); }
  std::int64_t scratch_bytes() const;
  std::int64_t registers() const;
  std::int64_t body_fmas() const;  ///< multiply-adds that the code spells out
  double core_cycles() const;      ///< of the whole task on one core

 private:
  reference::AttentionShape shape_;
  int lanes_;
  AttentionTiling tiling_;
};

inline constexpr double kWeightCycles = 12;  ///< of a vector's exp(), load and store

/// Where an element of that matrix of the batch lies.
loopnest::Int element_of(const reference::AttentionShape& shape, const reference::MatrixView& view,
                         loopnest::Int batch, loopnest::Int row, loopnest::Int column);

Kernel build_attention(const Task& task, const AttentionCut& cut);

}  // namespace aoe::compiler
