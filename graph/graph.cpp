// Graph: building, rewiring and ordering. Its text form is in graph_text.cpp.
#include "graph/graph.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "graph/parts.h"

namespace aoe::graph {

bool has_known_rank(const TensorDesc& desc) {
  return desc.shape != kUnknownRankShape;
}

ValueId Graph::add_value(std::string value_name, TensorDesc desc, ConstantPtr constant) {
  values.push_back({std::move(value_name), std::move(desc), std::move(constant), kNone});
  return static_cast<ValueId>(values.size() - 1);
}

NodeId Graph::add_node(Node node) {
  const auto id = static_cast<NodeId>(nodes.size());
  for (const ValueId output : node.outputs) {
    if (output == kNone) continue;
    AOE_CHECK(values[output].producer == kNone, values[output].name + " has a producer already");
    values[output].producer = id;
  }
  nodes.push_back(std::move(node));
  return id;
}

void Graph::remove_node(NodeId id) {
  nodes[id].is_dead = true;
  for (const ValueId output : nodes[id].outputs)
    if (output != kNone && values[output].producer == id) values[output].producer = kNone;
}

std::vector<NodeId> Graph::consumers(ValueId value) const {
  std::vector<NodeId> readers;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if (!node.is_dead && std::ranges::find(node.inputs, value) != node.inputs.end())
      readers.push_back(static_cast<NodeId>(i));
  }
  return readers;
}

bool Graph::is_output(ValueId value) const {
  return std::ranges::find(outputs, value) != outputs.end();
}

void Graph::replace_uses(ValueId from, ValueId to) {
  for (Node& node : nodes)
    if (!node.is_dead) std::ranges::replace(node.inputs, from, to);
  std::ranges::replace(outputs, from, to);
}

std::vector<NodeId> Graph::topological_order() const {
  std::vector<int> missing(nodes.size(), 0);
  std::vector<std::vector<NodeId>> readers(nodes.size());
  // The smallest ready id of the first part: where data allows it, nodes keep the order in which
  // they were added.
  using PartAndId = std::pair<NodeId, NodeId>;
  std::priority_queue<PartAndId, std::vector<PartAndId>, std::greater<>> ready;
  const std::vector<NodeId> part = parts_of(*this);
  std::size_t live = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].is_dead) continue;
    ++live;
    for (const ValueId input : nodes[i].inputs) {
      if (input == kNone || values[input].producer == kNone) continue;
      readers[values[input].producer].push_back(static_cast<NodeId>(i));
      ++missing[i];
    }
    if (missing[i] == 0) ready.emplace(part[i], static_cast<NodeId>(i));
  }
  std::vector<NodeId> order;
  order.reserve(live);
  while (!ready.empty()) {
    const NodeId id = ready.top().second;
    ready.pop();
    order.push_back(id);
    for (const NodeId reader : readers[id])
      if (--missing[reader] == 0) ready.emplace(part[reader], reader);
  }
  if (order.size() == live) return order;
  const auto stuck = std::ranges::find_if(missing, [](int count) { return count > 0; });
  throw Error(ExitCode::kModel, "the graph has a cycle through or before this node",
              "node " + nodes[stuck - missing.begin()].name);
}

namespace {

/// Renumbers the ids in `list` by `map`; kNone stays.
void renumber(std::vector<ValueId>& list, const std::vector<ValueId>& map) {
  for (ValueId& id : list)
    if (id != kNone) id = map[id];
}

}  // namespace

void Graph::compact() {
  std::vector<bool> is_used(values.size(), false);
  const auto use = [&](const std::vector<ValueId>& list) {
    for (const ValueId id : list)
      if (id != kNone) is_used[id] = true;
  };
  use(inputs);
  use(outputs);
  for (const Node& node : nodes) {
    if (node.is_dead) continue;
    use(node.inputs);
    use(node.outputs);
  }

  std::vector<ValueId> value_map(values.size(), kNone);
  std::vector<Value> kept_values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_used[i]) continue;
    value_map[i] = static_cast<ValueId>(kept_values.size());
    kept_values.push_back(std::move(values[i]));
    kept_values.back().producer = kNone;
  }
  values = std::move(kept_values);
  renumber(inputs, value_map);
  renumber(outputs, value_map);

  std::vector<Node> kept_nodes;
  for (Node& node : nodes) {
    if (node.is_dead) continue;
    renumber(node.inputs, value_map);
    renumber(node.outputs, value_map);
    for (const ValueId output : node.outputs)
      if (output != kNone) values[output].producer = static_cast<NodeId>(kept_nodes.size());
    kept_nodes.push_back(std::move(node));
  }
  nodes = std::move(kept_nodes);
}

}  // namespace aoe::graph
