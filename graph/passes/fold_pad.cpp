// fold_pad: a Pad with zeros along height and width becomes the padding of the convolution behind
// it, or of an average pooling that counts its padding.
#include <algorithm>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

bool pads_with_zero(const Graph& graph, const Node& pad) {
  if (pad.op.attrs.get_string("mode", "constant") != "constant") return false;
  if (pad.op.attrs.get_float("value", 0) != 0) return false;
  return !has_input(pad, 2) || is_scalar(constant_input(graph, pad, 2), 0);
}

/// Begins and ends of all dimensions; empty when they are not known or cut off.
std::vector<std::int64_t> full_pads(const Graph& graph, const Node& pad) {
  std::vector<std::int64_t> pads, axes;
  if (!ints_of(graph, pad, "pads", 1, pads)) return {};
  const auto rank = static_cast<std::int64_t>(shape_of(graph, pad.inputs[0]).size());
  if (has_input(pad, 3)) {
    if (!constant_input(graph, pad, 3)) return {};
    axes = to_ints(*constant_input(graph, pad, 3));
  } else {
    for (std::int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  if (pads.size() != 2 * axes.size()) return {};
  std::vector<std::int64_t> full(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    full[axis] = pads[i];
    full[axis + rank] = pads[i + axes.size()];
  }
  return std::ranges::any_of(full, [](std::int64_t p) { return p < 0; })
             ? std::vector<std::int64_t>{}
             : full;
}

bool takes_padding(const Node& node) {
  const std::string auto_pad = node.op.attrs.get_string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return false;
  if (is_type(node, "Conv2D")) return true;
  if (!is_type(node, "AvgPoolV2") || node.op.attrs.get_int("ceil_mode", 0) != 0) return false;
  const auto pads = node.op.attrs.get_ints("pads");
  return node.op.attrs.get_int("count_include_pad", 0) != 0 ||
         std::ranges::all_of(pads, [](std::int64_t p) { return p == 0; });
}

bool fold(Graph& graph, NodeId id) {
  const Node& pad = graph.nodes[id];
  if (!is_type(pad, "PadV3") || dtype_of(graph, pad.inputs[0]) != DataType::kFloat ||
      !pads_with_zero(graph, pad))
    return false;
  const std::vector<std::int64_t> added = full_pads(graph, pad);
  const NodeId next = sole_consumer(graph, pad.outputs[0]);
  if (added.size() < 6 || next == kNone || !takes_padding(graph.nodes[next])) return false;
  const Node& target = graph.nodes[next];
  const std::size_t rank = added.size() / 2, spatial = rank - 2;
  if (target.inputs[0] != pad.outputs[0] ||
      added[0] + added[1] + added[rank] + added[rank + 1] != 0)
    return false;
  std::vector<std::int64_t> pads =
      target.op.attrs.get_ints("pads", std::vector<std::int64_t>(2 * spatial, 0));
  for (std::size_t d = 0; d < spatial; ++d) {
    pads[d] += added[2 + d];
    pads[d + spatial] += added[rank + 2 + d];
  }
  const NodeEdit changed = graph.edit(next);
  changed->op.attrs.set("pads", pads);
  changed->op.attrs.erase("auto_pad");
  if (is_type(target, "AvgPoolV2")) changed->op.attrs.set("count_include_pad", std::int64_t{1});
  changed->origins.insert(changed->origins.begin(), pad.origins.begin(), pad.origins.end());
  changed->inputs[0] = pad.inputs[0];
  graph.remove_node(id);
  return true;
}

}  // namespace

bool fold_pad(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= fold(graph, id);
  return changed;
}

}  // namespace aoe::graph
