// From the graph bank to a rewritten graph.
#include "compiler/graph_strategies.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/log.h"
#include "graph/verify.h"

namespace aoe::compiler {
namespace {

struct Found {
  graph::CanonicalForm form;
  graph::RewritePlan plan;
  std::string repo_key;
};

class Lookup {
 public:
  Lookup(const graph::Graph& graph, const bank::StrategySource& bank, const Soc& soc)
      : graph_(graph), bank_(bank), soc_(soc), atoms_(graph::atoms_of(graph)) {}

  std::vector<std::pair<Found, double>> run() {
    std::map<std::pair<std::size_t, std::size_t>, Found> found;
    std::vector<graph::WeightedRange> candidates;
    for (std::size_t begin = 0; begin < atoms_.size(); ++begin) {
      std::size_t count = 0;
      for (std::size_t end = begin + 1; end <= atoms_.size(); ++end) {
        count += atoms_[end - 1].size();
        if (count > graph::kMostSubgraphNodes) break;
        double gain_ns = 0;
        auto known = find({begin, end}, gain_ns);
        if (!known) continue;
        candidates.push_back({{begin, end}, gain_ns});
        found[{begin, end}] = std::move(*known);
      }
    }
    std::vector<std::pair<Found, double>> chosen;
    for (const graph::WeightedRange& each : graph::choose_ranges(atoms_.size(), candidates))
      chosen.emplace_back(std::move(found[{each.range.begin, each.range.end}]), each.gain);
    return chosen;
  }

 private:
  std::optional<Found> find(graph::AtomRange range, double& gain_ns) const {
    const graph::Subgraph subgraph = graph::subgraph_of(graph_, graph::nodes_of(atoms_, range));
    Found known{.form = graph::canonical_form(graph_, subgraph)};
    const bank::TaskKey key = subgraph_key(known.form, soc_);
    const auto set = bank_.find(key);
    if (!set || !set->has_winner()) return std::nullopt;
    const bank::Strategy& best = set->strategies.front();
    known.repo_key = key.repo_key();
    gain_ns = best.measured.default_time_ns - best.measured.time_ns;
    auto plan = graph::plan_from_json(nlohmann::json::parse(best.rewrite, nullptr, false));
    if (plan) {
      known.plan = std::move(*plan);
      return known;
    }
    logger("compiler")->info("repo_key={} is not used: {}", known.repo_key, plan.error());
    return std::nullopt;
  }

  const graph::Graph& graph_;
  const bank::StrategySource& bank_;
  const Soc& soc_;
  const std::vector<std::vector<graph::NodeId>> atoms_;
};

}  // namespace

bank::TaskKey subgraph_key(const graph::CanonicalForm& form, const Soc& soc) {
  return {form.description, soc.version};
}

Result<AppliedSubgraph> apply_to_subgraph(graph::Graph& graph, const graph::CanonicalForm& form,
                                          const graph::RewritePlan& plan) {
  AppliedSubgraph applied{.description = form.description, .plan = graph::to_text(plan)};
  for (const graph::NodeId id : form.order) applied.replaced.insert(graph.nodes[id].name);
  const std::size_t known = graph.nodes.size();
  if (auto done = graph::apply_plan(graph, form.order, plan); !done)
    return Unexpected(done.error());
  for (const graph::NodeId id : form.order)
    if (!graph.nodes[id].is_dead) applied.nodes.insert(graph.nodes[id].name);
  for (std::size_t id = known; id < graph.nodes.size(); ++id)
    if (!graph.nodes[id].is_dead) applied.nodes.insert(graph.nodes[id].name);
  return applied;
}

namespace {

/// To the graph and to the bodies in it, which other copies of the graph may share.
std::vector<AppliedSubgraph> apply_all(graph::Graph& graph, const bank::StrategySource& graph_bank,
                                       const Soc& soc) {
  std::vector<AppliedSubgraph> list;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].is_dead || graph.nodes[id].bodies.empty()) continue;
    auto bodies = graph.nodes[id].bodies;
    const std::size_t before = list.size();
    for (auto& body : bodies) {
      graph::Graph own = *body;
      std::vector<AppliedSubgraph> applied = apply_all(own, graph_bank, soc);
      if (applied.empty()) continue;
      body = std::make_shared<const graph::Graph>(std::move(own));
      std::ranges::move(applied, std::back_inserter(list));
    }
    if (list.size() > before)
      graph.edit(static_cast<graph::NodeId>(id))->bodies = std::move(bodies);
  }
  for (const auto& [found, gain_ns] : Lookup(graph, graph_bank, soc).run()) {
    auto applied = apply_to_subgraph(graph, found.form, found.plan);
    if (!applied) {
      logger("compiler")->info("repo_key={} is not used: {}", found.repo_key, applied.error());
      continue;
    }
    applied->repo_key = found.repo_key;
    applied->gain_ns = gain_ns;
    list.push_back(std::move(*applied));
  }
  if (!list.empty()) {
    graph.compact();
    graph::verify(graph, "the plans of the graph bank");
  }
  return list;
}

}  // namespace

std::vector<AppliedSubgraph> apply_graph_strategies(graph::Graph& graph,
                                                    const bank::StrategySource& graph_bank,
                                                    const Soc& soc) {
  std::vector<AppliedSubgraph> list = apply_all(graph, graph_bank, soc);
  logger("compiler")
      ->info("model={} graph_bank_hits={} graph_bank='{}'", graph.name, list.size(),
             graph_bank.description());
  return list;
}

}  // namespace aoe::compiler
