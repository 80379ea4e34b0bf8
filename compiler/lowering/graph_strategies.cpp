// From the graph bank to a rewritten graph.
#include "compiler/lowering/graph_strategies.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json_text.h"
#include "base/log.h"
#include "graph/verify.h"

namespace aoe::compiler {
namespace {

struct Found {
  SubgraphInstance instance;
  graph::RewritePlan plan;
  std::string repo_key;
  double gain_ns = 0;
};

/// In one graph of a model.
class Lookup {
 public:
  Lookup(const graph::Graph& graph, graph::BodyPath path, const bank::StrategySource& bank,
         const Soc& soc)
      : graph_(graph),
        path_(std::move(path)),
        bank_(bank),
        soc_(soc),
        atoms_(graph::atoms_of(graph)) {}

  std::vector<Found> run() {
    std::map<std::pair<std::size_t, std::size_t>, Found> found;
    std::vector<graph::WeightedRange> candidates;
    for (std::size_t begin = 0; begin < atoms_.size(); ++begin) {
      std::size_t count = 0;
      for (std::size_t end = begin + 1; end <= atoms_.size(); ++end) {
        count += atoms_[end - 1].size();
        if (count > graph::kMostSubgraphNodes) break;
        auto known = find({begin, end});
        if (!known) continue;
        candidates.push_back({{begin, end}, known->gain_ns});
        found[{begin, end}] = std::move(*known);
      }
    }
    std::vector<Found> chosen;
    for (const graph::WeightedRange& each : graph::choose_ranges(atoms_.size(), candidates))
      chosen.push_back(std::move(found[{each.range.begin, each.range.end}]));
    return chosen;
  }

 private:
  std::optional<Found> find(graph::AtomRange range) const {
    const graph::Subgraph subgraph = graph::subgraph_of(graph_, graph::nodes_of(atoms_, range));
    Found known{.instance = {path_, graph::canonical_form(graph_, subgraph)}};
    const bank::TaskKey key = subgraph_key(known.instance.form, soc_);
    const auto set = bank_.find(key);
    if (!set || !set->has_winner()) return std::nullopt;
    const bank::Strategy& best = set->strategies.front();
    known.repo_key = key.repo_key();
    known.gain_ns = best.measured.default_time_ns - best.measured.time_ns;
    auto plan = plan_of(best);
    if (plan) {
      known.plan = std::move(*plan);
      return known;
    }
    logger("compiler")->info("repo_key={} is not used: {}", known.repo_key, plan.error());
    return std::nullopt;
  }

  const graph::Graph& graph_;
  const graph::BodyPath path_;
  const bank::StrategySource& bank_;
  const Soc& soc_;
  const std::vector<std::vector<graph::NodeId>> atoms_;
};

}  // namespace

bank::TaskKey subgraph_key(const graph::CanonicalForm& form, const Soc& soc) {
  return {form.description, soc.version};
}

Result<graph::RewritePlan> plan_of(const bank::Strategy& strategy) {
  return graph::plan_from_json(json_or_discarded(strategy.rewrite));
}

Result<AppliedSubgraph> apply_to_subgraph(graph::Graph& model, const SubgraphInstance& instance,
                                          const graph::RewritePlan& plan) {
  const graph::CanonicalForm& form = instance.form;
  const std::string at = graph::text_of(model, instance.in);
  AppliedSubgraph applied{.description = form.description, .plan = graph::to_text(plan)};
  Result<void> done;
  graph::change_at(model, instance.in, [&](graph::Graph& graph) {
    const auto name_of = [&](graph::NodeId id) { return graph::name_at(at, graph.nodes[id].name); };
    for (const graph::NodeId id : form.order) applied.replaced.insert(name_of(id));
    const std::size_t known = graph.nodes.size();
    done = graph::apply_plan(graph, form.order, plan);
    if (!done) return;
    for (const graph::NodeId id : form.order)
      if (!graph.nodes[id].is_dead) applied.nodes.insert(name_of(id));
    for (std::size_t id = known; id < graph.nodes.size(); ++id)
      if (!graph.nodes[id].is_dead) applied.nodes.insert(name_of(static_cast<graph::NodeId>(id)));
  });
  if (!done) return Unexpected(done.error());
  return applied;
}

void finish_rewriting(graph::Graph& model, const std::set<graph::BodyPath>& changed,
                      const std::string& by) {
  // The innermost first: what is compacted has other ids, on which paths into it would depend.
  std::vector<graph::BodyPath> paths(changed.begin(), changed.end());
  std::ranges::stable_sort(paths, std::ranges::greater{}, &graph::BodyPath::size);
  for (const graph::BodyPath& path : paths)
    graph::change_at(model, path, [&](graph::Graph& graph) {
      graph.compact();
      graph::verify(graph, by);
    });
}

std::vector<AppliedSubgraph> apply_graph_strategies(graph::Graph& graph,
                                                    const bank::StrategySource& graph_bank,
                                                    const Soc& soc) {
  std::vector<Found> all;
  if (!graph_bank.is_empty())
    graph::for_each_graph(graph, [&](const graph::Graph& each, const graph::BodyPath& path) {
      std::ranges::move(Lookup(each, path, graph_bank, soc).run(), std::back_inserter(all));
    });
  std::vector<AppliedSubgraph> list;
  std::set<graph::BodyPath> changed;
  for (const Found& found : all) {
    auto applied = apply_to_subgraph(graph, found.instance, found.plan);
    if (!applied) {
      logger("compiler")->info("repo_key={} is not used: {}", found.repo_key, applied.error());
      continue;
    }
    applied->repo_key = found.repo_key;
    applied->gain_ns = found.gain_ns;
    list.push_back(std::move(*applied));
    changed.insert(found.instance.in);
  }
  finish_rewriting(graph, changed, "the plans of the graph bank");
  logger("compiler")
      ->info("model={} graph_bank_hits={} graph_bank='{}'", graph.name, list.size(),
             graph_bank.description());
  return list;
}

}  // namespace aoe::compiler
