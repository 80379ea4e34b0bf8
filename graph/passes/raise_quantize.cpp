// raise_quantize: a Quantize behind a Concat stands in front of it, once for each input, so that bytes are joined, and each is part of
// what makes its input; behind the maximum of such a Concat's windows as well, for a maximum of bytes is the byte of the maximum.
#include <algorithm>

#include "graph/analysis/quantization.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// `quantize` of another value: the bytes.
ValueId bytes_of(Graph& graph, const Node& quantize, ValueId real) {
  Node each = quantize;
  each.inputs[0] = real;
  each.outputs = {add_intermediate(
      graph, graph.values[real].name + "_bytes",
      {.dtype = dtype_of(graph, quantize.outputs[0]), .shape = shape_of(graph, real)})};
  each.name = graph.unused_name(graph.values[each.outputs[0]].name + "_raised");
  const ValueId bytes = each.outputs[0];
  graph.add_node(std::move(each));
  return bytes;
}

bool joins_bytes(const Graph& graph, ValueId value) {
  const NodeId concat = producer_of_type(graph, value, "ConcatV2");
  return concat != kNone && std::ranges::all_of(graph.nodes[concat].inputs, [&](ValueId input) {
           return bytes_behind(graph, input).has_value();
         });
}

/// The Quantize in front of the pooling; kNone where it stays.
NodeId raise_over_maximum(Graph& graph, NodeId quantize) {
  const Node node = graph.nodes[quantize];
  const NodeId pooling = producer_of_type(graph, node.inputs[0], "MaxPoolV3");
  const auto to = quantization_of(graph, node);
  if (pooling == kNone || !to || !to->is_per_tensor() ||
      sole_consumer(graph, node.inputs[0]) != quantize || graph.nodes[pooling].outputs.size() != 1)
    return kNone;
  const ValueId real = graph.nodes[pooling].inputs[0];
  if (sole_consumer(graph, real) != pooling || !joins_bytes(graph, real)) return kNone;
  const reference::OpCall op = graph.nodes[pooling].op;
  const ValueId bytes = bytes_of(graph, node, real);
  replace_nodes(graph, {pooling, quantize},
                {.op = op, .inputs = {bytes}, .outputs = {node.outputs[0]}});
  return graph.values[bytes].producer;
}

bool raise(Graph& graph, NodeId quantize) {
  const Node node = graph.nodes[quantize];
  const ValueId real = node.inputs[0], output = node.outputs[0];
  const NodeId concat = producer_of_type(graph, real, "ConcatV2");
  const auto to = quantization_of(graph, node);
  if (concat == kNone || !to || !to->is_per_tensor() || sole_consumer(graph, real) != quantize)
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
    bytes.push_back(bytes_of(graph, node, input));
  }
  const reference::OpCall op = graph.nodes[concat].op;
  replace_nodes(graph, {concat, quantize}, {.op = op, .inputs = bytes, .outputs = {output}});
  return true;
}

}  // namespace

bool raise_quantize(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) {
    if (!is_type(graph.nodes[id], "Quantize")) continue;
    const NodeId raised = raise_over_maximum(graph, id);
    changed |= raise(graph, raised == kNone ? id : raised) || raised != kNone;
  }
  return changed;
}

}  // namespace aoe::graph
