// fuse_elementwise: elementwise nodes that are left and feed each other become one node:
// one walk over memory.
#include <algorithm>
#include <iterator>
#include <set>

#include "graph/analysis/elementwise_group.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// The producers that only `members` read and that may join them; grown until nothing more fits.
std::set<NodeId> grow(const Graph& graph, NodeId last) {
  const Shape& shape = shape_of(graph, graph.nodes[last].outputs[0]);
  std::set<NodeId> members = {last};
  const auto may_join = [&](NodeId id) {
    if (members.contains(id) || !is_step(graph, id, shape, StepTypes::kAny)) return false;
    const ValueId value = graph.nodes[id].outputs[0];
    return !graph.is_output(value) &&
           std::ranges::all_of(graph.consumers(value),
                               [&](NodeId reader) { return members.contains(reader); });
  };
  for (bool grows = true; grows && members.size() < kMostEpilogueSteps;) {
    grows = false;
    for (const NodeId member : std::vector<NodeId>(members.begin(), members.end())) {
      for (const ValueId input : graph.nodes[member].inputs) {
        const NodeId producer = input == kNone ? kNone : graph.values[input].producer;
        if (producer == kNone || members.size() >= kMostEpilogueSteps || !may_join(producer))
          continue;
        members.insert(producer);
        grows = true;
      }
    }
  }
  return members;
}

}  // namespace

bool fuse_elementwise(Graph& graph) {
  const std::vector<NodeId> order = graph.topological_order();
  std::vector<std::size_t> position(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  bool changed = false;
  for (auto last = order.rbegin(); last != order.rend(); ++last) {
    const Node& node = graph.nodes[*last];
    if (node.is_dead || node.outputs.empty() || node.outputs[0] == kNone) continue;
    if (!is_step(graph, *last, shape_of(graph, node.outputs[0]), StepTypes::kAny)) continue;
    const std::set<NodeId> members = grow(graph, *last);
    if (members.size() < 2) continue;
    std::vector<NodeId> steps(members.begin(), members.end());
    std::ranges::sort(steps, {}, [&](NodeId id) { return position[id]; });
    fuse_steps(graph, kNone, steps);
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
