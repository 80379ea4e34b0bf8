// Grows rows along sole consumers.
#include "graph/analysis/node_rows.h"

#include <algorithm>

#include "graph/rewrite.h"

namespace aoe::graph {

bool is_row(const Graph& graph, const std::vector<NodeId>& nodes) {
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const Node& node = graph.nodes[nodes[i]];
    if (node.inputs.empty()) return false;
    const ValueId between = node.inputs[0];
    if (between == kNone || graph.values[between].producer != nodes[i - 1] ||
        sole_consumer(graph, between) != nodes[i] || std::ranges::count(node.inputs, between) != 1)
      return false;
  }
  return true;
}

void for_each_row(const Graph& graph, std::size_t most,
                  const std::function<bool(const std::vector<NodeId>&)>& visit) {
  for (const NodeId first : graph.topological_order()) {
    std::vector<NodeId> nodes = {first};
    while (nodes.size() < most) {
      const Node& last = graph.nodes[nodes.back()];
      if (last.outputs.empty() || last.outputs[0] == kNone) break;
      const NodeId next = sole_consumer(graph, last.outputs[0]);
      if (next == kNone) break;
      nodes.push_back(next);
      if (!is_row(graph, nodes) || !visit(nodes)) break;
    }
  }
}

}  // namespace aoe::graph
