// Places of all rewrites, the rows of atoms that hold them, and equal rows as one task.
#include "tuner/tasks/subgraph_list.h"

#include <algorithm>
#include <map>

#include "compiler/roofline.h"
#include "compiler/task.h"

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

class Collector {
 public:
  Collector(const graph::Graph& graph, const compiler::Soc& soc,
            const std::function<double(const graph::Node&)>& node_ns)
      : graph_(graph),
        soc_(soc),
        node_ns_(node_ns),
        atoms_(graph::atoms_of(graph)),
        readers_(graph::readers_of_values(graph)) {}

  std::vector<SubgraphTask> run() {
    find_places();
    for (const graph::WeightedRange& range : graph::choose_ranges(atoms_.size(), candidates()))
      add_instance(range.range);
    return std::move(tasks_);
  }

 private:
  void find_places() {
    std::vector<std::size_t> atom_of(graph_.nodes.size(), 0);
    for (std::size_t a = 0; a < atoms_.size(); ++a)
      for (const NodeId id : atoms_[a]) atom_of[id] = a;
    for (const graph::Rewrite& rewrite : graph::rewrites().all()) {
      for (graph::Place& place : rewrite.find(graph_)) {
        if (place.expected_share <= 0) continue;
        FoundPlace found{.rewrite = &rewrite, .hull = {atoms_.size(), 0}};
        double estimate_ns = 0;
        for (const NodeId id : place.nodes) {
          found.hull.begin = std::min(found.hull.begin, atom_of[id]);
          found.hull.end = std::max(found.hull.end, atom_of[id] + 1);
          estimate_ns += estimated_ns(id);
        }
        found.expected_ns = estimate_ns * place.expected_share;
        found.place = std::move(place);
        if (node_count(found.hull) <= graph::kMostSubgraphNodes)
          places_.push_back(std::move(found));
      }
    }
  }

  /// Roughly, and the same in every run.
  double estimated_ns(NodeId id) const {
    constexpr double kEfficiency = 0.5;
    const compiler::Task task = compiler::task_of(graph_, id);
    return compiler::launch_ns(soc_) +
           std::max(compiler::compute_ns(soc_, compiler::flops(task), kEfficiency),
                    compiler::memory_ns(soc_, compiler::bytes_moved(task)));
  }

  std::size_t node_count(AtomRange range) const {
    std::size_t count = 0;
    for (std::size_t a = range.begin; a < range.end; ++a) count += atoms_[a].size();
    return count;
  }

  /// Hulls of places, and of places that overlap.
  std::vector<graph::WeightedRange> candidates() const {
    std::vector<graph::WeightedRange> list;
    for (const FoundPlace& first : places_) {
      for (const FoundPlace& last : places_) {
        const AtomRange range{first.hull.begin, last.hull.end};
        const bool is_row = &first == &last ||
                            (first.hull.begin <= last.hull.begin &&
                             last.hull.begin < first.hull.end && first.hull.end <= last.hull.end);
        const auto is_same = [&](const graph::WeightedRange& each) { return each.range == range; };
        if (!is_row || node_count(range) > graph::kMostSubgraphNodes ||
            std::ranges::any_of(list, is_same))
          continue;
        double gain = -kNodePenaltyNs * static_cast<double>(node_count(range));
        for (const FoundPlace* inside : places_in(range)) gain += inside->expected_ns;
        list.push_back({range, gain});
      }
    }
    return list;
  }

  std::vector<const FoundPlace*> places_in(AtomRange range) const {
    std::vector<const FoundPlace*> inside;
    for (const FoundPlace& each : places_)
      if (range.begin <= each.hull.begin && each.hull.end <= range.end) inside.push_back(&each);
    return inside;
  }

  void add_instance(AtomRange range) {
    const graph::Subgraph subgraph =
        graph::subgraph_of(graph_, readers_, graph::nodes_of(atoms_, range));
    graph::CanonicalForm form = graph::canonical_form(graph_, readers_, subgraph);
    const bank::TaskKey key = compiler::subgraph_key(form, soc_);
    auto task = std::ranges::find(tasks_, key.description,
                                  [](const SubgraphTask& t) { return t.key.description; });
    if (task == tasks_.end()) {
      tasks_.push_back({.key = key, .places = canonical_places(range, form)});
      task = std::prev(tasks_.end());
      task->type_text = type_text(subgraph);
    }
    std::vector<std::string> names;
    for (const NodeId id : subgraph.nodes) {
      names.push_back(graph_.nodes[id].name);
      task->model_ns += node_ns_(graph_.nodes[id]);
    }
    task->nodes.push_back(std::move(names));
    task->instances.push_back(std::move(form));
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
    for (const NodeId id : subgraph.nodes) ++counts[graph_.nodes[id].op.type];
    std::string text;
    for (const auto& [type, count] : counts)
      text += (text.empty() ? "" : "+") + (count > 1 ? std::to_string(count) + "x" : "") + type;
    return text;
  }

  const graph::Graph& graph_;
  const compiler::Soc& soc_;
  const std::function<double(const graph::Node&)>& node_ns_;
  const std::vector<std::vector<NodeId>> atoms_;
  const std::vector<std::vector<NodeId>> readers_;
  std::vector<FoundPlace> places_;
  std::vector<SubgraphTask> tasks_;
};

}  // namespace

std::vector<SubgraphTask> collect_subgraphs(
    const graph::Graph& graph, const compiler::Soc& soc,
    const std::function<double(const graph::Node&)>& node_ns) {
  return Collector(graph, soc, node_ns).run();
}

}  // namespace aoe::tuner
