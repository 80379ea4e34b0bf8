// PartialValues: lists of integers of which only some are known before the run, as a model makes them of a shape that is
// open in part: Shape of [?,5] is (?, 5). An entry that is known still chooses a branch, and a list that asks for a shape
// still says its dimensions. Of two that are not known, the difference may be: from past to past + 1 there is one place.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>

#include "graph/evaluation.h"
#include "graph/graph.h"

namespace aoe::graph {

class PartialValues {
 public:
  /// Learns what the node gives, when it only moves integers about. `inputs` have their data where they are known whole.
  /// Outputs of which nothing is missing are returned, in their places; those that are not are nullptr.
  std::vector<ConstantPtr> learn(const Graph& graph, const Node& node, std::vector<Tensor> inputs,
                                 EvaluationBudget& budget);

  /// The shape that a node is asked to give by lists known in part: kUnknownDim where they do not say; nullopt when the
  /// node is not asked, or nothing is known of them.
  std::optional<Shape> asked_shape(const Node& node, const std::vector<Tensor>& inputs) const;

 private:
  ConstantPtr open_shape(const Node& node, const Tensor& input, const TensorDesc& output);
  std::vector<std::int64_t> entries_of(ValueId id, const Tensor& value) const;
  Shape range_shape(const Node& node, const std::vector<Tensor>& inputs) const;
  std::optional<Shape> slice_shape(const Node& node, const std::vector<Tensor>& inputs) const;
  std::optional<Shape> pad_shape(const Node& node, const std::vector<Tensor>& inputs) const;
  std::vector<ConstantPtr> moved(const Graph& graph, const Node& node, std::vector<Tensor> inputs,
                                 EvaluationBudget& budget);

  std::unordered_map<ValueId, ConstantPtr> known_;  ///< open integers where they are not known
  std::map<std::pair<ValueId, std::size_t>, std::int64_t> names_;  ///< of dimensions of values
};

}  // namespace aoe::graph
