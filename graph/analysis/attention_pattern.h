// AttentionPattern: attention as exporters write it,
//
//   scores = MatMul(q, k)   [* or / scale]   [+ mask | Where(mask, very negative, scores)]
//   y = MatMul(Softmax(scores), v)
//
// of sizes that are known or that only a run knows. Internal to graph/.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "graph/graph.h"
#include "reference/products/attention.h"

namespace aoe::graph {

/// What is known of the sizes of an attention's values.
enum class AttentionSizes {
  kKnown,  ///< all, and none is 0
  kOpen,   ///< their number
};

struct AttentionPattern {
  std::vector<NodeId> nodes;  ///< from the first product to the second, in the model's order
  double scale = 1;
  ValueId mask = kNone;
  Shape mask_shape;  ///< of the scores where the mask meets them
  reference::MaskMode mode = reference::MaskMode::kAdd;
  ValueId condition = kNone;  ///< of a Where, instead of `mask`
  double hidden = 0;          ///< and what it puts in
  bool is_hidden_when = true;

  NodeId first() const { return nodes.front(); }
  NodeId second() const { return nodes.back(); }
};

/// Nothing where `second` is not the second product of one. With kOpen nothing tells whether a mask has as many queries and keys as the
/// product: it may stretch the scores.
std::optional<AttentionPattern> attention_at(const Graph& graph, NodeId second,
                                             AttentionSizes sizes);

/// Puts one node in the place of a pattern.
class AttentionReplacer {
 public:
  explicit AttentionReplacer(Graph& graph) : graph_(graph) {}

  /// What a Where hides, as numbers: `hidden` there and infinity elsewhere; once for all layers of a model.
  ValueId mask_of(ValueId condition, const AttentionPattern& pattern);
  /// `node` for the pattern's nodes and those that are `absorbed` behind them. What only led to the values `read` goes as well.
  void replace(const AttentionPattern& pattern, const std::vector<NodeId>& absorbed,
               const std::vector<ValueId>& read, Node node);

 private:
  void remove_unread(ValueId value, NodeId heir);

  Graph& graph_;
  std::map<std::tuple<ValueId, double, bool>, ValueId> masks_;
};

}  // namespace aoe::graph
