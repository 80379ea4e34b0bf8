// Borders of subgraphs, and subgraphs as graphs of their own.
#include "graph/subgraph.h"

#include <algorithm>
#include <map>
#include <set>

namespace aoe::graph {

Subgraph subgraph_of(const Graph& graph, std::vector<NodeId> nodes) {
  const std::set<NodeId> members(nodes.begin(), nodes.end());
  const auto is_member = [&](NodeId id) { return members.contains(id); };
  Subgraph subgraph{.nodes = std::move(nodes)};
  std::set<ValueId> seen;
  for (const NodeId id : subgraph.nodes) {
    for (const ValueId input : graph.nodes[id].inputs) {
      if (input == kNone || graph.values[input].constant || !seen.insert(input).second) continue;
      const NodeId producer = graph.values[input].producer;
      if (producer == kNone || !is_member(producer)) subgraph.inputs.push_back(input);
    }
    for (const ValueId output : graph.nodes[id].outputs) {
      if (output == kNone) continue;
      if (graph.is_output(output) || !std::ranges::all_of(graph.consumers(output), is_member))
        subgraph.outputs.push_back(output);
    }
  }
  return subgraph;
}

Graph extract(const Graph& graph, const Subgraph& subgraph) {
  Graph part;
  part.name = graph.name;
  std::map<ValueId, ValueId> copies;
  const auto copy_of = [&](ValueId value) {
    if (value == kNone) return kNone;
    const auto [at, is_new] = copies.try_emplace(value, kNone);
    const Value& original = graph.values[value];
    if (is_new) at->second = part.add_value(original.name, original.desc, original.constant);
    return at->second;
  };
  for (const ValueId input : subgraph.inputs) part.inputs.push_back(copy_of(input));
  for (const NodeId id : subgraph.nodes) {
    Node node = graph.nodes[id];
    for (ValueId& input : node.inputs) input = copy_of(input);
    for (ValueId& output : node.outputs) output = copy_of(output);
    part.add_node(std::move(node));
  }
  for (const ValueId output : subgraph.outputs) part.outputs.push_back(copy_of(output));
  return part;
}

}  // namespace aoe::graph
