// Places of all rewrites, the rows of atoms that hold them, and equal rows as one task.
#include "tuner/tasks/subgraph_list.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/json_text.h"
#include "base/statistics.h"
#include "graph/subgraph.h"

namespace aoe::tuner {
using graph::AtomRange;
using graph::NodeId;
namespace {

/// A node more in a subgraph costs measuring time and chances that another model has it, too.
constexpr double kNodePenaltyNs = 10;

struct FoundPlace {
  const graph::Rewrite* rewrite;
  graph::Place place;
  AtomRange hull;
  double expected_ns = 0;
};

/// Of all graphs of a model.
struct TaskList {
  std::vector<SubgraphTask> tasks = {};
  std::map<std::string, std::size_t> task_of = {};  ///< by description
};

/// What one graph has.
class Collector {
 public:
  struct Where {
    const graph::Graph& graph;
    const graph::BodyPath& path;
    std::string text;  ///< of the path
  };

  Collector(Where where, const compiler::Soc& soc, const NodeTimes& times, TaskList& list)
      : graph_(where.graph),
        where_(std::move(where)),
        soc_(soc),
        times_(times),
        list_(list),
        atoms_(graph::atoms_of(graph_)) {}

  void run() {
    find_places();
    for (const graph::WeightedRange& range : graph::choose_ranges(atoms_.size(), candidates()))
      add_instance(range.range);
  }

 private:
  void find_places() {
    by_begin_.resize(atoms_.size());
    std::vector<std::size_t> atom_of(graph_.nodes.size(), 0);
    for (std::size_t a = 0; a < atoms_.size(); ++a)
      for (const NodeId id : atoms_[a]) atom_of[id] = a;
    const graph::Hardware hardware = compiler::hardware_of(soc_);
    for (const graph::Rewrite& rewrite : graph::rewrites().all()) {
      for (graph::Place& place : rewrite.find(graph_, hardware)) {
        if (place.expected_share <= 0) continue;
        FoundPlace found{.rewrite = &rewrite, .hull = {atoms_.size(), 0}};
        double estimate_ns = 0;
        for (const NodeId id : place.nodes) {
          found.hull.begin = std::min(found.hull.begin, atom_of[id]);
          found.hull.end = std::max(found.hull.end, atom_of[id] + 1);
          estimate_ns += estimated_ns(graph_, id, soc_);
        }
        found.expected_ns = estimate_ns * place.expected_share;
        found.place = std::move(place);
        if (node_count(found.hull) > graph::kMostSubgraphNodes) continue;
        by_begin_[found.hull.begin].push_back(places_.size());
        places_.push_back(std::move(found));
      }
    }
  }

  /// Stops counting where there are too many for a subgraph.
  std::size_t node_count(AtomRange range) const {
    std::size_t count = 0;
    for (std::size_t a = range.begin; a < range.end && count <= graph::kMostSubgraphNodes; ++a)
      count += atoms_[a].size();
    return count;
  }

  /// Hulls of places, and of places that overlap.
  std::vector<graph::WeightedRange> candidates() const {
    std::vector<graph::WeightedRange> list;
    std::set<std::pair<std::size_t, std::size_t>> known;
    for (const FoundPlace& first : places_) {
      for (const FoundPlace* last : places_from(first.hull)) {
        const AtomRange range{first.hull.begin, last->hull.end};
        if ((last != &first && last->hull.end < first.hull.end) ||
            node_count(range) > graph::kMostSubgraphNodes ||
            !known.emplace(range.begin, range.end).second)
          continue;
        double gain = -kNodePenaltyNs * static_cast<double>(node_count(range));
        for (const FoundPlace* inside : places_in(range)) gain += inside->expected_ns;
        list.push_back({range, gain});
      }
    }
    return list;
  }

  /// Those that begin in the range, in the order in which they were found.
  std::vector<const FoundPlace*> places_from(AtomRange range) const {
    std::vector<const FoundPlace*> found;
    for (std::size_t a = range.begin; a < range.end; ++a)
      for (const std::size_t place : by_begin_[a]) found.push_back(&places_[place]);
    std::ranges::sort(found);  // they lie in one list
    return found;
  }

  std::vector<const FoundPlace*> places_in(AtomRange range) const {
    std::vector<const FoundPlace*> inside = places_from(range);
    std::erase_if(inside, [&](const FoundPlace* each) { return each->hull.end > range.end; });
    return inside;
  }

  void add_instance(AtomRange range) {
    const graph::Subgraph subgraph = graph::subgraph_of(graph_, graph::nodes_of(atoms_, range));
    graph::CanonicalForm form = graph::canonical_form(graph_, subgraph);
    const bank::TaskKey key = compiler::subgraph_key(form, soc_);
    const auto [known, is_new] = list_.task_of.try_emplace(key.description, list_.tasks.size());
    if (is_new) {
      SubgraphTask& added = list_.tasks.emplace_back();
      added.key = key;
      added.part = graph::extract(graph_, graph::subgraph_of(graph_, form.order));
      added.first = graph::name_at(where_.text, graph_.nodes[subgraph.nodes.front()].name);
      added.rewrites = canonical_places(range, form);
      added.types = type_text(subgraph);
    }
    SubgraphTask& task = list_.tasks[known->second];
    for (const NodeId id : subgraph.nodes) task.model_ns += times_.ns(where_.path, id);
    task.instances.push_back({where_.path, std::move(form)});
  }

  std::vector<SubgraphPlace> canonical_places(AtomRange range,
                                              const graph::CanonicalForm& form) const {
    std::map<NodeId, int> canonical;
    for (std::size_t i = 0; i < form.order.size(); ++i)
      canonical[form.order[i]] = static_cast<int>(i);
    std::vector<SubgraphPlace> list;
    for (const FoundPlace* found : places_in(range)) {
      SubgraphPlace place{.kind = found->rewrite->kind,
                          .version = found->rewrite->version,
                          .choices = found->place.choices,
                          .expected_ns = found->expected_ns};
      for (const NodeId id : found->place.nodes) place.nodes.push_back(canonical.at(id));
      list.push_back(std::move(place));
    }
    std::ranges::stable_sort(list, std::ranges::greater{}, &SubgraphPlace::expected_ns);
    return list;
  }

  std::string type_text(const graph::Subgraph& subgraph) const {
    std::map<std::string, int> counts;
    for (const NodeId id : subgraph.nodes) ++counts[reference::type_name(graph_.nodes[id].op)];
    std::string text;
    for (const auto& [type, count] : counts)
      text += (text.empty() ? "" : "+") + (count > 1 ? std::to_string(count) + "x" : "") + type;
    return text;
  }

  const graph::Graph& graph_;
  const Where where_;
  const compiler::Soc& soc_;
  const NodeTimes& times_;
  TaskList& list_;
  const std::vector<std::vector<NodeId>> atoms_;
  std::vector<FoundPlace> places_;
  std::vector<std::vector<std::size_t>> by_begin_;  ///< by atom: places whose hull begins there
};

}  // namespace

Result<void> SubgraphTask::accepts(const bank::Strategy& stored, const compiler::Soc&) const {
  const auto plan = compiler::plan_of(stored);
  if (!plan) return Unexpected(plan.error());
  const auto rewritten = part_with(*plan);
  if (!rewritten) return Unexpected(rewritten.error());
  return {};
}

bank::Strategy SubgraphTask::default_strategy(const bank::Strategy& other) const {
  bank::Strategy strategy = strategy_of(graph::RewritePlan{});
  strategy.measured = other.measured;
  strategy.measured.time_ns = other.measured.default_time_ns;
  strategy.measured.verdict = name(Verdict::kSame);
  return strategy;
}

std::string SubgraphTask::text_of(const bank::Strategy& strategy) const {
  const auto plan = compiler::plan_of(strategy);
  return plan ? graph::to_text(*plan) : plan.error();
}

std::set<NodeId> SubgraphTask::controls() const {
  std::set<NodeId> ids;
  for (const compiler::SubgraphInstance& each : instances)
    if (!each.in.empty()) ids.insert(each.in.front().node);
  return ids;
}

Result<graph::Graph> SubgraphTask::part_with(const graph::RewritePlan& plan) const {
  graph::Graph rewritten = part;
  std::vector<graph::NodeId> order(part.nodes.size());
  std::iota(order.begin(), order.end(), graph::NodeId{0});
  if (auto applied = graph::apply_plan(rewritten, order, plan); !applied)
    return Unexpected(applied.error());
  rewritten.compact();
  return rewritten;
}

bank::Strategy strategy_of(const graph::RewritePlan& plan) {
  bank::Strategy strategy{.impl = "rewrite"};
  strategy.rewrite = json_text(graph::to_json(plan));
  return strategy;
}

std::vector<SubgraphTask> collect_subgraphs(const graph::Graph& model, const compiler::Soc& soc,
                                            const NodeTimes& times) {
  TaskList list;
  graph::for_each_graph(model, [&](const graph::Graph& graph, const graph::BodyPath& path) {
    Collector({graph, path, graph::text_of(model, path)}, soc, times, list).run();
  });
  return std::move(list.tasks);
}

}  // namespace aoe::tuner
