// sink_dequantize: what only picks or moves elements gives the same bytes as it gives numbers, so between a Dequantize and
// a Quantize with the same scale and zero point it works on the bytes: maximum pooling, and what OpDef::moved is said of.
#include <algorithm>

#include "graph/analysis/quantization.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// How many leading inputs hold the elements of the only output; 0: none.
std::size_t moved_inputs(const Node& node) {
  if (node.outputs.size() != 1) return 0;
  return is_type(node, "MaxPoolV3") ? 1 : reference::moved_inputs(node.op.type, node.inputs.size());
}

bool sink(Graph& graph, NodeId quantize) {
  const auto to = quantization_of(graph, graph.nodes[quantize]);
  const ValueId real = graph.nodes[quantize].inputs[0];
  const NodeId mover = graph.values[real].producer;
  if (!to || !to->is_per_tensor() || mover == kNone || sole_consumer(graph, real) != quantize)
    return false;
  const std::size_t moved = moved_inputs(graph.nodes[mover]);
  const ValueId output = graph.nodes[quantize].outputs[0];
  std::vector<ValueId> inputs = graph.nodes[mover].inputs;
  for (std::size_t i = 0; i < moved; ++i) {
    const auto from = inputs[i] == kNone ? std::nullopt : bytes_behind(graph, inputs[i]);
    if (!from || !is_same(graph, from->quantization, *to)) return false;
    if (dtype_of(graph, from->value) != dtype_of(graph, output)) return false;
    inputs[i] = from->value;
  }
  if (moved == 0) return false;
  const reference::OpCall op = graph.nodes[mover].op;
  replace_nodes(graph, {mover, quantize}, {.op = op, .inputs = inputs, .outputs = {output}});
  return true;
}

}  // namespace

bool sink_dequantize(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order())
    if (is_type(graph.nodes[id], "Quantize")) changed |= sink(graph, id);
  return changed;
}

}  // namespace aoe::graph
