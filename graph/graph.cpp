// Graph: building, rewiring and ordering. Its text form is in graph_text.cpp.
#include "graph/graph.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "graph/parts.h"
#include "graph/pass_budget.h"

namespace aoe::graph {

namespace {

void add_reader(std::vector<NodeId>& readers, NodeId id) {
  const auto at = std::ranges::lower_bound(readers, id);
  if (at == readers.end() || *at != id) readers.insert(at, id);
}

}  // namespace

bool has_known_rank(const TensorDesc& desc) {
  return desc.shape != kUnknownRankShape;
}

OutputList& OutputList::operator=(const std::vector<ValueId>& list) {
  list_ = list;
  counts_.clear();
  for (const ValueId value : list_) ++counts_[value];
  return *this;
}

void OutputList::push_back(ValueId value) {
  list_.push_back(value);
  ++counts_[value];
}

void OutputList::set(std::size_t i, ValueId value) {
  if (--counts_.at(list_[i]) == 0) counts_.erase(list_[i]);
  list_[i] = value;
  ++counts_[value];
}

void OutputList::replace(ValueId from, ValueId to) {
  if (from == to || !contains(from)) return;
  std::ranges::replace(list_, from, to);
  counts_[to] += counts_.at(from);
  counts_.erase(from);
}

ValueId Graph::add_value(std::string value_name, TensorDesc desc, ConstantPtr constant) {
  if (PassBudget* const budget = PassBudget::current(); budget != nullptr && constant)
    budget->add_bytes(constant->size_bytes(), "value " + value_name);
  names_.try_emplace(value_name, 2);
  values.push_back({std::move(value_name), std::move(desc), std::move(constant), kNone});
  readers_.emplace_back();
  return static_cast<ValueId>(values.size() - 1);
}

void Graph::rename(ValueId value, std::string value_name) {
  names_.erase(values[value].name);
  names_.try_emplace(value_name, 2);
  values[value].name = std::move(value_name);
}

std::string Graph::unused_name(const std::string& stem) {
  const auto taken = names_.find(stem);
  if (taken == names_.end()) return stem;
  std::string unused;
  do {
    unused = stem + "_" + std::to_string(taken->second++);
  } while (names_.contains(unused));
  return unused;
}

NodeId Graph::add_node(Node node) {
  if (PassBudget* const budget = PassBudget::current()) budget->add_node("node " + node.name);
  const auto id = static_cast<NodeId>(nodes.size());
  for (const ValueId output : node.outputs) {
    if (output == kNone) continue;
    AOE_CHECK(values[output].producer == kNone, values[output].name + " has a producer already");
    values[output].producer = id;
  }
  nodes.list_.push_back(std::move(node));
  add_reads(id);
  return id;
}

void Graph::remove_node(NodeId id) {
  edit(id)->is_dead = true;
  for (const ValueId output : nodes[id].outputs)
    if (output != kNone && values[output].producer == id) values[output].producer = kNone;
}

void Graph::add_reads(NodeId id) {
  if (nodes[id].is_dead) return;
  for (const ValueId input : nodes[id].inputs)
    if (input != kNone) add_reader(readers_[input], id);
}

void Graph::drop_reads(NodeId id) {
  for (const ValueId input : nodes[id].inputs) {
    if (input == kNone) continue;
    std::vector<NodeId>& readers = readers_[input];
    const auto at = std::ranges::lower_bound(readers, id);
    if (at != readers.end() && *at == id) readers.erase(at);
  }
}

void Graph::replace_uses(ValueId from, ValueId to) {
  if (from == to) return;
  for (const NodeId reader :
       std::exchange(readers_[from], {})) {  // its other inputs stay as they are
    remember(reader);
    std::ranges::replace(nodes.list_[reader].inputs, from, to);
    add_reader(readers_[to], reader);
  }
  outputs.replace(from, to);
}

void Graph::begin_changes() {
  AOE_CHECK(!changes_, "changes within changes");
  changes_ = Changes{
      .node_count = nodes.size(), .value_count = values.size(), .nodes = {}, .outputs = outputs};
}

void Graph::remember(NodeId id) {
  if (changes_ && static_cast<std::size_t>(id) < changes_->node_count)
    changes_->nodes.try_emplace(id, nodes[id]);
}

std::vector<NodeId> Graph::changed_nodes() const {
  std::vector<NodeId> changed;
  for (const auto& [id, before] : changes_->nodes) changed.push_back(id);
  for (std::size_t id = changes_->node_count; id < nodes.size(); ++id)
    changed.push_back(static_cast<NodeId>(id));
  return changed;
}

void Graph::take_back_changes() {
  Changes before = std::move(*changes_);
  changes_.reset();
  while (nodes.size() > before.node_count) {
    const auto last = static_cast<NodeId>(nodes.size() - 1);
    remove_node(last);
    nodes.list_.pop_back();
  }
  for (auto& [id, node] : before.nodes) remove_node(id);
  for (auto& [id, node] : before.nodes) {
    *edit(id) = std::move(node);
    if (nodes[id].is_dead) continue;
    for (const ValueId output : nodes[id].outputs)
      if (output != kNone) values[output].producer = id;
  }
  while (values.size() > before.value_count) {
    names_.erase(values.back().name);
    values.pop_back();
    readers_.pop_back();
  }
  outputs = std::move(before.outputs);
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
  std::vector<ValueId> kept_outputs = outputs;
  renumber(kept_outputs, value_map);
  outputs = kept_outputs;

  names_.clear();
  for (const Value& value : values) names_.try_emplace(value.name, 2);
  readers_.assign(values.size(), {});
  std::vector<Node> kept_nodes;
  for (Node& node : nodes.list_) {
    if (node.is_dead) continue;
    renumber(node.inputs, value_map);
    renumber(node.outputs, value_map);
    for (const ValueId output : node.outputs)
      if (output != kNone) values[output].producer = static_cast<NodeId>(kept_nodes.size());
    kept_nodes.push_back(std::move(node));
  }
  nodes.list_ = std::move(kept_nodes);
  for (std::size_t id = 0; id < nodes.size(); ++id) add_reads(static_cast<NodeId>(id));
}

}  // namespace aoe::graph
