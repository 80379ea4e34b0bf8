// Where the matrices of an attention lie: from the operands of its two products to the views of a FlashAttentionScore.
// Internal to graph/.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "reference/products/attention.h"

namespace aoe::graph {

struct AttentionOperands {
  ValueId query = kNone, key = kNone;  ///< factors of the first product; key's columns are the keys
  ValueId value = kNone;               ///< second factor of the second product
  ValueId scores = kNone, product = kNone;  ///< what the two products give
  ValueId mask = kNone;                     ///< broadcasts to `mask_shape`
  Shape mask_shape;                         ///< the scores' shape where the mask meets them
  double scale = 1;
};

struct AttentionCall {
  reference::AttentionShape shape;
  std::vector<ValueId> inputs;
  ValueId output = kNone;
  std::vector<NodeId> absorbed;  ///< behind the second product, in the model's order
};

/// Nothing when the two products do not go through the same batches.
std::optional<AttentionCall> attention_call(const Graph& graph, const AttentionOperands& operands);

}  // namespace aoe::graph
