// eliminate_dead_code: removes nodes that no graph output depends on, and marks outputs that nobody
// reads as unwanted.
#include <algorithm>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {}  // namespace

bool eliminate_dead_code(Graph& graph) {
  std::vector<bool> is_read(graph.values.size(), false);
  for (const ValueId output : graph.outputs) is_read[output] = true;
  std::vector<NodeId> order = graph.topological_order();
  std::ranges::reverse(order);  // readers before producers: one walk finds everything
  bool changed = false;
  for (const NodeId id : order) {
    const Node& node = graph.nodes[id];
    const auto is_wanted = [&](ValueId output) { return output != kNone && is_read[output]; };
    if (std::ranges::none_of(node.outputs, is_wanted)) {
      graph.remove_node(id);
      changed = true;
      continue;
    }
    for (const ValueId input : node.inputs)
      if (input != kNone) is_read[input] = true;
    if (std::ranges::all_of(node.outputs, is_wanted)) continue;
    const NodeEdit trimmed = graph.edit(id);
    for (ValueId& output : trimmed->outputs) {
      if (output == kNone || is_read[output]) continue;
      graph.values[output].producer = kNone;
      output = kNone;
      changed = true;
    }
    // How many parts a split makes is said by its outputs, wanted or not.
    if (is_type(*trimmed, "SplitV")) continue;
    while (trimmed->outputs.back() == kNone) trimmed->outputs.pop_back();
  }
  return changed;
}

}  // namespace aoe::graph
