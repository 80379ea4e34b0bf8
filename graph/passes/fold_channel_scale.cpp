// fold_channel_scale: Mul, Div, Add and Sub with one constant per channel go into the weights and
// the bias of the convolution or matrix product before them.
#include "graph/analysis/channel_affine.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// The node as an affine function of its input `x`.
std::optional<ChannelAffine> affine_of(const Graph& graph, const Node& node, ValueId x,
                                       const Channels& channels) {
  if (node.inputs.size() != 2 || graph.values[node.outputs[0]].desc != graph.values[x].desc)
    return std::nullopt;
  const std::size_t other = node.inputs[0] == x ? 1 : 0;
  const ConstantPtr constant = constant_input(graph, node, other);
  if (!constant) return std::nullopt;
  const auto values = per_channel(*constant, graph.values[x].desc.shape, channels);
  if (!values) return std::nullopt;
  ChannelAffine affine{std::vector<double>(values->size(), 1.0),
                       std::vector<double>(values->size(), 0.0)};
  for (std::size_t c = 0; c < values->size(); ++c) {
    const double value = (*values)[c];
    if (is_type(node, "Mul")) {
      affine.scale[c] = value;
    } else if (is_type(node, "Add")) {
      affine.shift[c] = value;
    } else if (is_type(node, "Sub")) {
      affine.scale[c] = other == 1 ? 1 : -1;
      affine.shift[c] = other == 1 ? -value : value;
    } else if (is_type(node, "Div") && other == 1 && value != 0) {
      affine.scale[c] = 1 / value;
    } else {
      return std::nullopt;
    }
  }
  return affine;
}

bool fold_next(Graph& graph, NodeId anchor) {
  const auto channels = foldable_channels(graph, graph.nodes[anchor]);
  if (!channels) return false;
  const ValueId output = graph.nodes[anchor].outputs[0];
  const NodeId next = sole_consumer(graph, output);
  if (next == kNone) return false;
  const auto affine = affine_of(graph, graph.nodes[next], output, *channels);
  return affine && fold_affine(graph, anchor, next, *affine);
}

}  // namespace

bool fold_channel_scale(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order())
    while (fold_next(graph, id)) changed = true;
  return changed;
}

}  // namespace aoe::graph
