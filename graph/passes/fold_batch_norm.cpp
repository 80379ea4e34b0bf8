// fold_batch_norm: an inference BatchNorm goes into the weights of the convolution or Gemm before
// it; where there is none, it becomes a Mul and an Add per channel, which later passes fuse with
// their neighbours.
#include <algorithm>
#include <cmath>

#include "graph/analysis/channel_affine.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

std::optional<ChannelAffine> affine_of(const Graph& graph, const Node& node) {
  if (!is_type(node, "BatchNorm") || node.outputs.size() != 1) return std::nullopt;
  if (node.op.attrs.get_int("training_mode", 0) != 0 || node.inputs.size() != 5)
    return std::nullopt;
  std::vector<std::vector<double>> parameters;
  for (std::size_t i = 1; i < 5; ++i) {
    const ConstantPtr constant = constant_input(graph, node, i);
    if (!constant || constant->desc().dtype != DataType::kFloat) return std::nullopt;
    parameters.push_back(to_doubles(*constant));
  }
  const auto &gamma = parameters[0], &beta = parameters[1], &mean = parameters[2],
             &variance = parameters[3];
  const double epsilon = static_cast<double>(node.op.attrs.get_float("epsilon", 1e-5f));
  ChannelAffine affine;
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    affine.scale.push_back(gamma[c] / std::sqrt(variance[c] + epsilon));
    affine.shift.push_back(beta[c] - mean[c] * affine.scale[c]);
  }
  return affine;
}

void split(Graph& graph, NodeId id, const ChannelAffine& affine) {
  const Node norm = graph.nodes[id];
  const TensorDesc desc = graph.values[norm.outputs[0]].desc;
  Shape shape(std::max<std::size_t>(desc.shape.size(), 2) - 1, 1);  // C x 1 x 1, or C alone
  shape[0] = static_cast<std::int64_t>(affine.scale.size());
  const ValueId scaled = add_intermediate(graph, norm.name + "_scaled", desc);
  graph.add_node(
      {.name = norm.name + "_scaled",
       .op = call_of("Mul"),
       .inputs = {norm.inputs[0], add_floats(graph, norm.name + "_scale", shape, affine.scale)},
       .outputs = {scaled},
       .origins = norm.origins});
  const ValueId shift = add_floats(graph, norm.name + "_shift", shape, affine.shift);
  graph.edit(id)->op = call_of("Add");
  graph.edit(id)->inputs = {scaled, shift};
}

}  // namespace

bool fold_batch_norm(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) {
    const auto affine = affine_of(graph, graph.nodes[id]);
    if (!affine) continue;
    const ValueId input = graph.nodes[id].inputs[0];
    const NodeId before = graph.values[input].producer;
    const auto channels =
        before == kNone ? std::nullopt : foldable_channels(graph, graph.nodes[before]);
    const bool is_folded = channels && channels->axis == 1 && sole_consumer(graph, input) == id &&
                           fold_affine(graph, before, id, *affine);
    if (!is_folded) split(graph, id, *affine);
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
