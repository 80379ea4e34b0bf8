// run_side_by_side: nodes that need nothing of each other run in one go instead of one after
// another, with one barrier for all (the branches of an Inception module, the two expansions of a
// fire module, the heads of a detector). Wins where ops are short and cut unevenly.
#include <algorithm>
#include <array>
#include <set>

#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"

namespace aoe::graph {
namespace {

constexpr std::size_t kFewest = 2, kMost = 8;

/// Nodes that mostly cost nothing: they only say how bytes are looked at.
constexpr std::array kViews = {"ConcatV2", "FlattenV2", "Identity", "Reshape",
                               "Slice",    "SplitV",    "Squeeze",  "Unsqueeze"};

bool is_candidate(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (node.is_dead || node.group.id != 0 || node.outputs.empty() || node.outputs[0] == kNone)
    return false;
  const TensorDesc& desc = graph.values[node.outputs[0]].desc;
  return desc.dtype == DataType::kFloat && is_static(desc.shape) &&
         std::ranges::find(kViews, node.op.type) == kViews.end();
}

/// Who needs whose results, directly or not.
class Dependencies {
 public:
  explicit Dependencies(const Graph& graph) : graph_(graph), rank_(graph.nodes.size(), 0) {
    int next = 0;
    for (const NodeId id : graph.topological_order()) rank_[id] = next++;
  }

  /// Those that need nothing of the others.
  std::vector<NodeId> independent(const std::set<NodeId>& nodes) const {
    std::vector<NodeId> kept;
    for (const NodeId id : nodes)
      if (!needs_any(id, nodes)) kept.push_back(id);
    return kept;
  }

 private:
  bool needs_any(NodeId node, const std::set<NodeId>& others) const {
    int first = rank_[node];  // what stands before all of them needs none of them
    for (const NodeId id : others) first = std::min(first, rank_[id]);
    std::vector<NodeId> open = {node};
    std::set<NodeId> seen;
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      for (const ValueId input : graph_.nodes[id].inputs) {
        const NodeId producer = input == kNone ? kNone : graph_.values[input].producer;
        if (producer == kNone || rank_[producer] < first || !seen.insert(producer).second) continue;
        if (others.contains(producer)) return true;
        open.push_back(producer);
      }
    }
    return false;
  }

  const Graph& graph_;
  std::vector<int> rank_;  ///< by node: its place in a topological order
};

/// Groups of one kind of surroundings: what reads a value, what reads that, what one node joins.
class Places {
 public:
  explicit Places(const Graph& graph) : graph_(graph), dependencies_(graph) {}

  std::vector<Place> run() {
    for (std::size_t v = 0; v < graph_.values.size(); ++v)
      if (!graph_.values[v].constant) add_levels_below(static_cast<ValueId>(v));
    for (const NodeId id : graph_.topological_order()) add_joined_by(graph_.nodes[id]);
    return std::move(places_);
  }

 private:
  /// The readers of a value, then the readers of what these make: one level of a region of
  /// branches after the other.
  void add_levels_below(ValueId value) {
    std::vector<NodeId> level = graph_.consumers(value);
    if (level.size() < kFewest) return;
    for (int depth = 0; depth < 3 && level.size() >= kFewest; ++depth) {
      level = add(level);
      std::set<NodeId> next;
      for (const NodeId id : level)
        for (const ValueId output : graph_.nodes[id].outputs)
          if (output != kNone)
            for (const NodeId reader : graph_.consumers(output)) next.insert(reader);
      level.assign(next.begin(), next.end());
    }
  }

  void add_joined_by(const Node& node) {
    std::vector<NodeId> joined;
    for (const ValueId input : node.inputs)
      if (input != kNone && graph_.values[input].producer != kNone)
        joined.push_back(graph_.values[input].producer);
    add(joined);
  }

  /// Returns those that need nothing of each other, candidates or not.
  std::vector<NodeId> add(const std::vector<NodeId>& nodes) {
    const std::vector<NodeId> free = dependencies_.independent({nodes.begin(), nodes.end()});
    std::vector<NodeId> group;
    for (const NodeId id : free)
      if (is_candidate(graph_, id)) group.push_back(id);
    if (group.size() >= kFewest && group.size() <= kMost && known_.insert(group).second)
      places_.push_back({.nodes = group,
                         .choices = {{{"one_list", 0}}, {{"one_list", 1}}},
                         .expected_share = 0.03});
    return free;
  }

  const Graph& graph_;
  const Dependencies dependencies_;
  std::set<std::vector<NodeId>> known_;
  std::vector<Place> places_;
};

std::vector<Place> find(const Graph& graph) {
  return Places(graph).run();
}

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams& params) {
  const std::set<NodeId> distinct(nodes.begin(), nodes.end());
  if (distinct.size() < kFewest || distinct.size() != nodes.size())
    return Unexpected("there are not two nodes");
  for (const NodeId id : nodes)
    if (!is_candidate(graph, id)) return Unexpected("node " + std::to_string(id) + " does no work");
  if (Dependencies(graph).independent(distinct).size() != nodes.size())
    return Unexpected("the nodes need each other");
  int id = 1;
  for (const Node& node : graph.nodes) id = std::max(id, node.group.id + 1);
  const auto one_list = params.find("one_list");
  for (const NodeId node : nodes)
    graph.nodes[node].group = {id, one_list != params.end() && one_list->second != 0};
  return {};
}

}  // namespace

void register_run_side_by_side(RewriteRegistry& registry) {
  registry.add({.kind = "run_side_by_side", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
