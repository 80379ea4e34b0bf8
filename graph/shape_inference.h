// ShapeInference: descriptions of values, node by node, with the values of small computations
// carried along, so that shapes computed by the model itself (Shape, Gather, Concat, Reshape) are
// known without running it.
#pragma once

#include <unordered_map>

#include "graph/graph.h"

namespace aoe::graph {

class ShapeInference {
 public:
  explicit ShapeInference(Graph& graph) : graph_(graph) {}

  /// Fills in the descriptions of the node's outputs; those of its inputs must be there. What the
  /// outputs say already is taken as a declaration: it fills the dimensions that inference cannot
  /// tell and yields to those it can. Throws Error(kModel) that names the node.
  void infer_node(NodeId id);

  /// The value if it is a constant or could be computed; nullptr otherwise.
  ConstantPtr known_value(ValueId id) const;

 private:
  std::vector<Tensor> inputs_of(const Node& node) const;
  void learn_values(const Node& node, const std::vector<Tensor>& inputs);

  Graph& graph_;
  std::unordered_map<ValueId, ConstantPtr> known_;
};

/// Computes all outputs of a node whose input values are all known (or, for Shape and Size, whose
/// input's shape is). Empty when they are not, or when the outputs would take more than
/// `most_bytes`.
std::vector<ConstantPtr> evaluate(const Graph& graph, const Node& node,
                                  const std::vector<Tensor>& inputs, std::size_t most_bytes);

}  // namespace aoe::graph
