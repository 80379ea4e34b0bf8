// Union-find over the edges.
#include "graph/parts.h"

#include <algorithm>
#include <numeric>

namespace aoe::graph {

std::vector<NodeId> parts_of(const Graph& graph) {
  std::vector<NodeId> parent(graph.nodes.size());
  std::iota(parent.begin(), parent.end(), NodeId{0});
  const auto root_of = [&](NodeId id) {
    while (parent[id] != id) id = parent[id] = parent[parent[id]];
    return id;
  };
  std::vector<NodeId> first_at(graph.values.size(), kNone);  // a node at each value
  const auto meet = [&](ValueId value, NodeId id) {
    if (value == kNone || graph.values[value].constant) return;
    if (first_at[value] == kNone) first_at[value] = id;
    const NodeId a = root_of(first_at[value]), b = root_of(id);
    parent[std::max(a, b)] = std::min(a, b);
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].is_dead) continue;
    for (const ValueId input : graph.nodes[i].inputs) meet(input, static_cast<NodeId>(i));
    for (const ValueId output : graph.nodes[i].outputs) meet(output, static_cast<NodeId>(i));
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) parent[i] = root_of(static_cast<NodeId>(i));
  return parent;
}

}  // namespace aoe::graph
