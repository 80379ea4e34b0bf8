// AttentionShape: the attributes of a FlashAttentionScore as plain numbers.
//
// For every batch: output = softmax(scale * query * key^T, combined with the mask) * value. The operands are matrices
// inside tensors of any shape: a view says where in the tensor's row-major elements they lie, so that heads are read from
// and written to the projections' own memory, without a Transpose, Slice or Gather in between.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/attrs.h"

namespace aoe::reference {

/// One matrix per batch: element (row, column) of batch b lies at offset + b * batch + row * row_stride + ...
struct MatrixView {
  std::int64_t offset = 0;
  std::vector<std::int64_t> batch;  ///< strides by batch dimension; 0 repeats
  std::int64_t row = 0, column = 0;
};

enum class MaskMode {
  kAdd,  ///< scores + mask
  kMin,  ///< min(scores, mask): what a Where with a very negative constant means
};

struct AttentionShape {
  std::vector<std::int64_t> batch;  ///< batch dimensions, e.g. images x heads
  std::int64_t queries = 0, keys = 0;
  std::int64_t depth = 0;        ///< columns of query and key
  std::int64_t value_depth = 0;  ///< columns of value and of the output
  MatrixView query, key, value;  ///< inputs 0, 1, 2; a row per query or key
  MatrixView mask;               ///< input 3, if present: a row per query, a column per key
  MatrixView output;             ///< covers `output_shape` exactly
  Shape output_shape;
  float scale = 1;
  MaskMode mask_mode = MaskMode::kAdd;

  std::int64_t batches() const;
};

/// Throws Error(kModel) when the attributes contradict each other.
AttentionShape attention_shape(const Attrs& attrs, bool has_mask);
Attrs to_attrs(const AttentionShape& shape, bool has_mask);

/// Sets what attributes say of the scores: their scale, and what the mask means.
void set_score_attributes(const Attrs& attrs, AttentionShape& shape);

/// The elements a tensor must have for all of the view to lie inside it. Throws Error(kModel) when no tensor has so many.
std::int64_t elements_reached(const MatrixView& view, const AttentionShape& shape,
                              std::int64_t rows, std::int64_t columns);

}  // namespace aoe::reference
