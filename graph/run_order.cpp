// A topological order of nodes and groups. Tested by tests/graph/run_order_test.cpp.
#include "graph/run_order.h"

#include <algorithm>
#include <list>
#include <map>

namespace aoe::graph {
namespace {

class Ordering {
 public:
  explicit Ordering(const Graph& graph) : graph_(graph), is_done_(graph.nodes.size(), false) {
    std::map<int, std::vector<NodeId>*> unit_of_group;
    for (const NodeId id : graph.topological_order()) {
      const int group = graph.nodes[id].group.id;
      if (group != 0 && unit_of_group.contains(group)) {
        unit_of_group[group]->push_back(id);
        continue;
      }
      waiting_.push_back({id});
      unit_of_group[group] = &waiting_.back();
    }
  }

  std::vector<std::vector<NodeId>> run() {
    while (!waiting_.empty()) {
      const auto ready =
          std::ranges::find_if(waiting_, [this](const auto& u) { return is_ready(u); });
      if (ready == waiting_.end()) {
        dissolve_one();
        continue;
      }
      for (const NodeId id : *ready) is_done_[id] = true;
      order_.push_back(std::move(*ready));
      waiting_.erase(ready);
    }
    return std::move(order_);
  }

 private:
  bool is_ready(const std::vector<NodeId>& unit) const {
    return std::ranges::all_of(unit, [this](NodeId id) {
      return std::ranges::all_of(graph_.nodes[id].inputs, [this](ValueId input) {
        const NodeId producer = input == kNone ? kNone : graph_.values[input].producer;
        return producer == kNone || is_done_[producer];
      });
    });
  }

  /// Without groups some node would be ready: one of them is to blame.
  void dissolve_one() {
    const auto group =
        std::ranges::find_if(waiting_, [](const auto& unit) { return unit.size() > 1; });
    const std::vector<NodeId> nodes = std::move(*group);
    const auto place = waiting_.erase(group);
    for (const NodeId id : nodes) waiting_.insert(place, {id});
  }

  const Graph& graph_;
  std::vector<bool> is_done_;
  std::list<std::vector<NodeId>> waiting_;  ///< in topological order of their first nodes
  std::vector<std::vector<NodeId>> order_;
};

}  // namespace

std::vector<std::vector<NodeId>> run_order(const Graph& graph) {
  return Ordering(graph).run();
}

}  // namespace aoe::graph
