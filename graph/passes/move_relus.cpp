// move_relus: Relu behind a Concat moves in front of it, where convolutions take it into their
// epilogues, and goes where values cannot be negative anyway (behind another Relu, also through
// poolings, reshapes and concatenations).
#include <algorithm>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// By value: it cannot be negative.
using Signs = std::vector<bool>;

bool is_non_negative(const Node& node, const Signs& signs) {
  if (is_type(node, "Relu") || is_type(node, "Sigmoid") || is_type(node, "SoftmaxV2")) return true;
  const auto is_of = [&](ValueId input) { return input != kNone && signs[input]; };
  for (const char* type :
       {"MaxPoolV3", "AvgPoolV2", "GlobalAveragePool", "Reshape", "Transpose", "Slice"})
    if (is_type(node, type)) return is_of(node.inputs[0]);
  return is_type(node, "ConcatV2") && std::ranges::all_of(node.inputs, is_of);
}

/// Worth moving when at least one part comes from an op that has an epilogue.
bool gains(const Graph& graph, const Node& concat) {
  return std::ranges::any_of(concat.inputs, [&](ValueId input) {
    const NodeId producer = graph.values[input].producer;
    if (producer == kNone || graph.consumers(input).size() != 1 || graph.is_output(input))
      return false;
    return reference::epilogue_of(graph.nodes[producer].op.type) == reference::Epilogue::kFloat;
  });
}

bool move(Graph& graph, NodeId id, Signs& signs) {
  const ValueId whole = graph.nodes[id].inputs[0];
  const NodeId concat = producer_of_type(graph, whole, "ConcatV2");
  if (concat == kNone || sole_consumer(graph, whole) != id || !gains(graph, graph.nodes[concat]))
    return false;
  const Node relu = graph.nodes[id];
  std::vector<ValueId> parts;
  for (const ValueId input : graph.nodes[concat].inputs) {
    if (signs[input]) {
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
  graph.edit(concat)->inputs = std::move(parts);
  signs.resize(graph.values.size(), true);
  signs[whole] = true;
  return bypass(graph, id, whole);
}

}  // namespace

bool move_relus(Graph& graph) {
  bool changed = false;
  Signs signs(graph.values.size(), false);
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    const ValueId output = node.outputs.empty() ? kNone : node.outputs[0];
    if (output == kNone) continue;
    signs[output] = is_non_negative(node, signs);
    if (!is_type(node, "Relu")) continue;
    const ValueId input = node.inputs[0];
    changed |= signs[input] ? bypass(graph, id, input) : move(graph, id, signs);
  }
  return changed;
}

}  // namespace aoe::graph
