// reduce_windows: poolings whose windows follow each other without a gap along the last axis, at least ten elements each, read lines
// once, as reductions of lines do; so do those of one window over the whole image, whatever its size.
#include <algorithm>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

constexpr std::int64_t kShortest = 10;  ///< of lines; pooling rows is as fast at shorter ones

/// A pooling without padding, whose result is one element for each `line` elements of its input, in their order. 0: none of these.
std::int64_t line_of(const Graph& graph, const Node& node) {
  const auto& attrs = node.op.attrs;
  if (!is_type(node, "MaxPoolV3") && !is_type(node, "AvgPoolV2")) return 0;
  if (node.outputs.size() != 1 || attrs.has("dilations")) return 0;
  const Shape &in = shape_of(graph, node.inputs[0]), &out = shape_of(graph, node.outputs[0]);
  const auto kernel = attrs.get_ints("kernel_shape");
  if (!is_static(in) || element_count(in) == 0 || in.size() != kernel.size() + 2) return 0;
  const auto pads = attrs.get_ints("pads", Shape(2 * kernel.size(), 0));
  if (attrs.get_string("auto_pad", "NOTSET") != "NOTSET" ||
      std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; }))
    return 0;
  const auto strides = attrs.get_ints("strides", Shape(kernel.size(), 1));
  std::int64_t line = 1;
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    const bool follow = kernel[d] == strides[d] || out[d + 2] == 1;
    if (!follow || out[d + 2] * kernel[d] != in[d + 2]) return 0;
    if (line > 1 && out[d + 2] != 1) return 0;  // windows of several rows
    line *= kernel[d];
  }
  return line;
}

bool reduce_windows_at(Graph& graph, NodeId id) {
  const Node node = graph.nodes[id];
  const std::int64_t line = line_of(graph, node);
  if (line < kShortest) return false;
  const TensorDesc x = graph.values[node.inputs[0]].desc;
  if (!is_floating(x.dtype)) return false;
  const bool is_max = is_type(node, "MaxPoolV3");
  const TensorDesc y = graph.values[node.outputs[0]].desc;
  if (element_count(y.shape) == x.shape[0] * x.shape[1]) {  // which may have its channels in blocks
    graph.edit(id)->op = call_of(is_max ? "GlobalMaxPool" : "GlobalAveragePool");
    return true;
  }
  const std::int64_t count = element_count(y.shape);
  const auto reshaped = [&](ValueId from, const std::string& suffix, const Shape& shape) {
    const ValueId to = add_intermediate(graph, node.name + suffix, {x.dtype, shape});
    graph.add_node({.name = node.name + suffix,
                    .op = call_of("Reshape"),
                    .inputs = {from, add_ints(graph, node.name + suffix + "_shape", shape)},
                    .outputs = {to},
                    .origins = node.origins});
    return to;
  };
  const ValueId lines = reshaped(node.inputs[0], "_lines", {count, line});
  const ValueId ends = add_intermediate(graph, node.name + "_reduced", {x.dtype, {count, 1}});
  Node reduce{.name = node.name + "_reduced",
              .op = call_of(is_max ? "ReduceMax" : "ReduceMean"),
              .inputs = {lines, add_ints(graph, node.name + "_axes", {1})},
              .outputs = {ends},
              .origins = node.origins};
  reduce.op.attrs.set("keepdims", std::int64_t{1});
  graph.add_node(std::move(reduce));
  graph.edit(id)->op = call_of("Reshape");
  graph.edit(id)->inputs = {ends, add_ints(graph, node.name + "_shape", y.shape)};
  return true;
}

}  // namespace

bool reduce_windows(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= reduce_windows_at(graph, id);
  return changed;
}

}  // namespace aoe::graph
