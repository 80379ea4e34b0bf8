// ShapeInference: descriptions of values, node by node, with the values of small computations
// carried along, so that shapes computed by the model itself (Shape, Gather, Concat, Reshape) are
// known without running it.
#pragma once

#include <unordered_map>

#include "graph/evaluation.h"
#include "graph/graph.h"
#include "graph/partial_values.h"

namespace aoe::graph {

class ShapeInference {
 public:
  explicit ShapeInference(Graph& graph)
      : graph_(graph), own_(EvaluationBudget::for_shapes()), budget_(own_) {}
  /// `budget` is shared with others, and must outlive it.
  ShapeInference(Graph& graph, EvaluationBudget& budget) : graph_(graph), budget_(budget) {}

  /// Fills in the descriptions of the node's outputs; those of its inputs must be there. What the
  /// outputs say already is taken as a declaration: it fills the dimensions that inference cannot
  /// tell and yields to those it can. Throws Error(kModel) that names the node.
  void infer_node(NodeId id);

  /// The value if it is a constant or could be computed; nullptr otherwise.
  ConstantPtr known_value(ValueId id) const;

 private:
  std::vector<Tensor> inputs_of(const Node& node) const;
  void hide_what_is_too_much(const Node& node, std::vector<Tensor>& inputs);
  void learn_values(const Node& node, const std::vector<Tensor>& inputs);

  Graph& graph_;
  std::unordered_map<ValueId, ConstantPtr> known_;
  PartialValues partial_;
  EvaluationBudget own_;
  EvaluationBudget& budget_;
};

}  // namespace aoe::graph
