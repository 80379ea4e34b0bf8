// PartialValues: lists of integers of which only some are known before the run, as a model makes them of a shape that is
// open in part: Shape of [?,5] is (?, 5). An entry that is known still chooses a branch, and a list that asks for a shape
// still says its dimensions.
#pragma once

#include <unordered_map>

#include "graph/evaluation.h"
#include "graph/graph.h"

namespace aoe::graph {

class PartialValues {
 public:
  /// Learns what the node gives, when it only moves integers about. `inputs` have their data where they are known whole.
  /// Outputs of which nothing is missing are returned, in their places; those that are not are nullptr.
  std::vector<ConstantPtr> learn(const Graph& graph, const Node& node, std::vector<Tensor> inputs,
                                 EvaluationBudget& budget);

  /// The shape that a node is asked to give by a list known in part: kUnknownDim where it does not say; nullopt when the
  /// node is not asked, or nothing is known of the list.
  std::optional<Shape> asked_shape(const Node& node, const std::vector<Tensor>& inputs) const;

 private:
  std::vector<ConstantPtr> moved(const Graph& graph, const Node& node, std::vector<Tensor> inputs,
                                 EvaluationBudget& budget) const;

  std::unordered_map<ValueId, ConstantPtr> known_;  ///< kMissing where they are not known
};

}  // namespace aoe::graph
