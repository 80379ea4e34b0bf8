// Evaluation of nodes while a model is compiled: how much of it one import may do. A model may ask for a constant that is
// far larger than itself (Expand to terabytes) or far dearer (a convolution of two constants): what exceeds the budget
// stays an operator that runs when the model does.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// What is left: one for an import, one for all passes over a graph and its bodies.
struct EvaluationBudget {
  /// All folded constants together. The largest layer of common models has 400 MB; light models make all their weights
  /// so.
  std::size_t bytes = std::size_t{2} << 30;
  /// Steps of inner loops, about a nanosecond each.
  double work = 2e9;
  std::size_t nodes_left_alone = 0;  ///< for which it was not enough

  /// More for a graph with weights: they may be converted, transposed and scaled.
  static EvaluationBudget for_weights(std::size_t bytes);
  /// For shapes alone, which are known already or small: what may be asked for again and again.
  static EvaluationBudget for_shapes();
};

/// Its result depends on the shape of its input only, as Shape and Size do.
bool reads_shape_only(const Node& node);

/// Steps of the inner loops of the reference, roughly and never far too few, for these inputs and outputs.
double evaluation_work(const reference::OpCall& call, const std::vector<Tensor>& inputs,
                       const std::vector<TensorDesc>& outputs);

/// Computes all outputs of a node whose input values are all known (or, for Shape and Size, whose
/// input's shape is). Empty when they are not, when the outputs would take more than `most_bytes`, or when the budget,
/// from which it takes, does not suffice.
std::vector<ConstantPtr> evaluate(const Graph& graph, const Node& node,
                                  const std::vector<Tensor>& inputs, std::size_t most_bytes,
                                  EvaluationBudget& budget);

}  // namespace aoe::graph
