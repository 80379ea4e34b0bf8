// AttentionTensors: what a FusedInferAttentionScore reads and writes, whose sizes only a run knows.
//
//   scores = query * key * scale_value, combined with the mask        each as numpy.matmul, broadcasting
//   result = softmax(scores) * value
//
// Attributes say which axis of a tensor each axis of a factor is (query_axes, key_axes, value_axes; -1: none, its size is 1), and which
// one of the result each axis of the output (output_axes); all in their order where they are missing. Transposes beside
// the products are so no operators of their own. With `repeats`, so many heads in a row (the last axis of the batches) read each head of key
// and value.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/tensor.h"
#include "reference/products/attention.h"

namespace aoe::reference {

inline constexpr std::size_t kAttentionMask = 3;

struct AttentionTensors {
  std::array<Shape, 4> inputs;  ///< as they lie: query, key, value, mask, which may be absent
  std::array<std::vector<int>, 4> axes;  ///< of the inputs, by axis of the factor
  std::vector<int> output_axes;
  std::int64_t repeats = 1;
  bool has_mask = false;
  Shape scores, result, output;  ///< kUnknownDim where only a run can tell

  /// Input `i` as a factor, (batch..., rows, columns): a key is a column.
  Shape factor(std::size_t i) const;
};

/// Throws Error(kModel) when attributes and shapes do not fit. `inputs`: query, key, value and, where there is one, the mask.
AttentionTensors attention_tensors(const Attrs& attrs, std::span<const Tensor> inputs);
AttentionTensors attention_tensors(const Attrs& attrs, std::span<const TensorDesc> inputs);

/// Where the matrices lie; all sizes are known. Any of them may be 0.
AttentionShape attention_shape(const Attrs& attrs, const AttentionTensors& tensors);

}  // namespace aoe::reference
