// eliminate_common_subexpressions: equal calls on equal inputs are computed once, equal small
// constants are kept once.
#include <algorithm>
#include <map>
#include <tuple>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// Larger constants are weights; comparing them would cost more than an equal pair is likely to
/// save.
constexpr std::size_t kMostComparedBytes = 65536;

bool merge_constants(Graph& graph) {
  std::map<std::tuple<DataType, Shape, std::string>, ValueId> seen;
  std::map<ValueId, ValueId> merged;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const ConstantPtr& constant = graph.values[i].constant;
    if (!constant || constant->size_bytes() > kMostComparedBytes) continue;
    std::string bytes(static_cast<const char*>(constant->data()), constant->size_bytes());
    const auto id = static_cast<ValueId>(i);
    const auto [first, is_new] =
        seen.try_emplace({constant->desc().dtype, constant->desc().shape, std::move(bytes)}, id);
    if (!is_new) merged[id] = first->second;
  }
  bool changed = false;
  for (const auto& [twin, first] : merged) {
    changed |= !graph.consumers(twin).empty();
    graph.replace_uses(twin, first);
  }
  return changed;
}

bool is_same(const Graph& graph, const Node& a, const Node& b) {
  if (a.outputs.size() != b.outputs.size() || !(a.op == b.op)) return false;
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    if ((a.outputs[i] == kNone) != (b.outputs[i] == kNone)) return false;
    // An output keeps its name, so it needs its own producer.
    if (b.outputs[i] != kNone && graph.is_output(b.outputs[i])) return false;
  }
  return true;
}

}  // namespace

bool eliminate_common_subexpressions(Graph& graph) {
  bool changed = merge_constants(graph);
  std::map<std::pair<std::string, std::vector<ValueId>>, std::vector<NodeId>> seen;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    const reference::OpDef* def = reference::ops().find(node.op.type);
    if (def == nullptr || !def->is_deterministic) continue;
    std::vector<NodeId>& earlier = seen[{node.op.type, node.inputs}];
    const auto twin = std::ranges::find_if(
        earlier, [&](NodeId other) { return is_same(graph, graph.nodes[other], node); });
    if (twin == earlier.end()) {
      earlier.push_back(id);
      continue;
    }
    const std::vector<ValueId> outputs = node.outputs;
    graph.remove_node(id);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] != kNone) graph.replace_uses(outputs[i], graph.nodes[*twin].outputs[i]);
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
