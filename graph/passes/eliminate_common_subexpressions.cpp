// eliminate_common_subexpressions: equal calls on equal inputs are computed once, equal small
// constants are kept once.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>

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

std::size_t hash_of(const reference::Attr& attr) {
  const auto of_all = [](const auto& list) {
    std::size_t hash = list.size();
    for (const auto& each : list)
      hash = hash * 31 + std::hash<std::decay_t<decltype(each)>>()(each);
    return hash;
  };
  return std::visit(
      [&]<typename T>(const T& value) -> std::size_t {
        if constexpr (std::is_same_v<T, ConstantPtr>)
          return of_all(value->desc().shape);
        else if constexpr (std::is_arithmetic_v<T>)
          return std::hash<T>()(value);
        else
          return of_all(value);
      },
      attr);
}

/// Of a call, for lists that stay short where thousands of nodes read the same.
std::size_t hash_of(const reference::OpCall& op) {
  std::size_t hash = std::hash<std::string>()(op.type);
  for (const auto& [name, attr] : op.attrs.all())
    hash = (hash * 31 + std::hash<std::string>()(name)) * 31 + hash_of(attr);
  return hash;
}

bool is_same(const Node& a, const Node& b) {
  if (a.outputs.size() != b.outputs.size() || !(a.op == b.op)) return false;
  for (std::size_t i = 0; i < a.outputs.size(); ++i)
    if ((a.outputs[i] == kNone) != (b.outputs[i] == kNone)) return false;
  return true;
}

/// An output keeps its name, so it needs its own producer.
bool gives_out(const Graph& graph, const Node& node) {
  return std::ranges::any_of(
      node.outputs, [&](ValueId output) { return output != kNone && graph.is_output(output); });
}

}  // namespace

bool eliminate_common_subexpressions(Graph& graph) {
  bool changed = merge_constants(graph);
  std::map<std::pair<std::size_t, std::vector<ValueId>>, std::vector<NodeId>> seen;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    const reference::OpDef* def = reference::ops().find(node.op.type);
    if (def == nullptr || !def->is_deterministic) continue;
    std::vector<NodeId>& earlier = seen[{hash_of(node.op), node.inputs}];
    const auto twin = std::ranges::find_if(
        earlier, [&](NodeId other) { return is_same(graph.nodes[other], node); });
    if (twin == earlier.end()) {
      earlier.push_back(id);
      continue;
    }
    if (gives_out(graph, node)) continue;
    const std::vector<ValueId> outputs = node.outputs;
    graph.remove_node(id);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] != kNone) graph.replace_uses(outputs[i], graph.nodes[*twin].outputs[i]);
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
