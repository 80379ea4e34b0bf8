// use_global_pooling: the ways to say "mean over height and width" (ReduceMean over the spatial
// axes, AveragePool whose kernel is the whole image) become GlobalAveragePool.
#include <algorithm>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

bool is_mean_over_image(const Graph& graph, const Node& node) {
  if (!is_type(node, "ReduceMean")) return false;
  const auto rank = static_cast<std::int64_t>(shape_of(graph, node.inputs[0]).size());
  std::vector<std::int64_t> axes;
  if (rank < 4 || !ints_of(graph, node, "axes", 1, axes)) return false;
  for (std::int64_t& axis : axes)
    if (axis < 0) axis += rank;
  std::ranges::sort(axes);
  std::vector<std::int64_t> spatial;
  for (std::int64_t axis = 2; axis < rank; ++axis) spatial.push_back(axis);
  return axes == spatial;
}

/// One window that covers the whole image, whatever padding it reaches into.
bool is_pool_over_image(const Graph& graph, const Node& node) {
  if (!is_type(node, "AvgPoolV2") || node.op.attrs.has("dilations")) return false;
  if (node.op.attrs.get_string("auto_pad", "NOTSET") != "NOTSET") return false;
  const Shape& in = shape_of(graph, node.inputs[0]);
  const Shape& out = shape_of(graph, node.outputs[0]);
  const auto kernel = node.op.attrs.get_ints("kernel_shape");
  const auto pads = node.op.attrs.get_ints("pads", Shape(2 * kernel.size(), 0));
  const bool counts_padding = node.op.attrs.get_int("count_include_pad", 0) != 0;
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    if (in[d + 2] == 0) return false;  // 0 here, the mean of nothing there
    if (out[d + 2] != 1 || kernel[d] - pads[d] < in[d + 2]) return false;
    if (counts_padding && (pads[d] != 0 || pads[d + kernel.size()] != 0)) return false;
  }
  return true;
}

bool use_global_pooling_at(Graph& graph, NodeId id) {
  const Node node = graph.nodes[id];
  if (!is_mean_over_image(graph, node) && !is_pool_over_image(graph, node)) return false;
  if (!is_static(shape_of(graph, node.inputs[0]))) return false;
  if (!is_floating(graph.values[node.inputs[0]].desc.dtype))
    return false;  // of integers, truncated
  TensorDesc pooled = graph.values[node.inputs[0]].desc;
  std::fill(pooled.shape.begin() + 2, pooled.shape.end(), 1);
  if (graph.values[node.outputs[0]].desc == pooled) {
    graph.edit(id)->op = call_of("GlobalAveragePool");
    graph.edit(id)->inputs = {node.inputs[0]};
    return true;
  }
  // keepdims=0: the pooled image without its height and width
  const std::string name = node.name + "_pooled";
  const ValueId middle = add_intermediate(graph, name, pooled);
  const ValueId shape = add_ints(graph, node.name + "_shape", shape_of(graph, node.outputs[0]));
  graph.add_node({.name = name,
                  .op = call_of("GlobalAveragePool"),
                  .inputs = {node.inputs[0]},
                  .outputs = {middle},
                  .origins = node.origins});
  graph.edit(id)->op = call_of("Reshape");
  graph.edit(id)->inputs = {middle, shape};
  return true;
}

}  // namespace

bool use_global_pooling(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= use_global_pooling_at(graph, id);
  return changed;
}

}  // namespace aoe::graph
