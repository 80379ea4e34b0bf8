// raise_quantize: a Quantize behind a Concat whose sizes only a run can tell stands in front of it, once for each input, so that bytes are
// joined, and each is part of what makes its input. Where sizes are known Concat is written in place by what is in front of it.
#include "graph/analysis/quantization.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

bool raise(Graph& graph, NodeId quantize) {
  const Node node = graph.nodes[quantize];
  const ValueId real = node.inputs[0], output = node.outputs[0];
  const NodeId concat = producer_of_type(graph, real, "ConcatV2");
  const auto to = quantization_of(graph, node);
  if (concat == kNone || !to || !to->is_per_tensor() || sole_consumer(graph, real) != quantize ||
      is_static(shape_of(graph, output)))
    return false;
  std::vector<ValueId> bytes;
  const std::vector<ValueId> inputs = graph.nodes[concat].inputs;
  for (const ValueId input : inputs) {
    const auto from = bytes_behind(graph, input);
    if (from && is_same(graph, from->quantization, *to) &&
        dtype_of(graph, from->value) == dtype_of(graph, output)) {
      bytes.push_back(from->value);
      continue;
    }
    Node each = node;
    each.inputs[0] = input;
    each.outputs = {
        add_intermediate(graph, graph.values[input].name + "_bytes",
                         {.dtype = dtype_of(graph, output), .shape = shape_of(graph, input)})};
    each.name = graph.unused_name(graph.values[each.outputs[0]].name + "_raised");
    bytes.push_back(each.outputs[0]);
    graph.add_node(std::move(each));
  }
  const reference::OpCall op = graph.nodes[concat].op;
  replace_nodes(graph, {concat, quantize}, {.op = op, .inputs = bytes, .outputs = {output}});
  return true;
}

}  // namespace

bool raise_quantize(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order())
    if (is_type(graph.nodes[id], "Quantize")) changed |= raise(graph, id);
  return changed;
}

}  // namespace aoe::graph
