// move_relus: Relu behind a Concat moves in front of it, where convolutions take it into their
// epilogues, and goes where values cannot be negative anyway (behind another Relu, also through
// poolings, reshapes and concatenations).
#include <algorithm>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

bool is_non_negative(const Graph& graph, ValueId value) {
  const NodeId producer = graph.values[value].producer;
  if (producer == kNone) return false;
  const Node& node = graph.nodes[producer];
  if (is_type(node, "Relu") || is_type(node, "Sigmoid") || is_type(node, "SoftmaxV2")) return true;
  for (const char* type :
       {"MaxPoolV3", "AvgPoolV2", "GlobalAveragePool", "Reshape", "Transpose", "Slice"})
    if (is_type(node, type))
      return node.outputs[0] == value && is_non_negative(graph, node.inputs[0]);
  return is_type(node, "ConcatV2") && std::ranges::all_of(node.inputs, [&](ValueId input) {
           return is_non_negative(graph, input);
         });
}

/// Worth moving when at least one part comes from an op that has an epilogue.
bool gains(const Graph& graph, const Node& concat) {
  return std::ranges::any_of(concat.inputs, [&](ValueId input) {
    const NodeId producer = graph.values[input].producer;
    if (producer == kNone || graph.consumers(input).size() != 1 || graph.is_output(input))
      return false;
    const Node& node = graph.nodes[producer];
    return is_type(node, "Conv2D") || is_type(node, "Conv2DTranspose") || is_type(node, "Gemm") ||
           is_type(node, "MatMulV2");
  });
}

bool move(Graph& graph, NodeId id) {
  const ValueId whole = graph.nodes[id].inputs[0];
  const NodeId concat = producer_of_type(graph, whole, "ConcatV2");
  if (concat == kNone || sole_consumer(graph, whole) != id || !gains(graph, graph.nodes[concat]))
    return false;
  const Node relu = graph.nodes[id];
  std::vector<ValueId> parts;
  for (const ValueId input : graph.nodes[concat].inputs) {
    if (is_non_negative(graph, input)) {
      parts.push_back(input);
      continue;
    }
    const std::string name = relu.name + "_" + std::to_string(parts.size());
    const ValueId part = add_intermediate(graph, name, graph.values[input].desc);
    graph.add_node({.name = name,
                    .op = relu.op,
                    .inputs = {input},
                    .outputs = {part},
                    .origins = relu.origins});
    parts.push_back(part);
  }
  graph.nodes[concat].inputs = std::move(parts);
  return bypass(graph, id, whole);
}

bool run(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) {
    if (!is_type(graph.nodes[id], "Relu")) continue;
    const ValueId input = graph.nodes[id].inputs[0];
    changed |= is_non_negative(graph, input) ? bypass(graph, id, input) : move(graph, id);
  }
  return changed;
}

}  // namespace

void register_move_relus(PassRegistry& registry) {
  registry.add({.name = "move_relus", .order = 75, .run = run});
}

}  // namespace aoe::graph
