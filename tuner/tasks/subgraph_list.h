// The tuning work of a model's subgraphs: its distinct subgraphs in which something can be
// rewritten, each with all places where it stands.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/graph_strategies.h"
#include "tuner/search/plan_search.h"
#include "tuner/tasks/tunable.h"

namespace aoe::tuner {

struct SubgraphTask final : Tunable {
  std::vector<graph::CanonicalForm> instances;
  graph::Graph
      part;  ///< the first instance by itself; its nodes are in canonical order and have their names in the model
  std::vector<std::vector<std::string>> nodes;  ///< names, by instance
  std::vector<SubgraphPlace> rewrites;          ///< largest expectation first
  std::string types;                            ///< "2xConv2D+Relu"

  const std::string& first_node() const override { return nodes.front().front(); }
  int places() const override { return static_cast<int>(instances.size()); }
  std::string type_text() const override { return types; }
  Result<void> accepts(const bank::Strategy& stored, const compiler::Soc& soc) const override;
  bank::Strategy default_strategy(const bank::Strategy& other) const override;
  std::string text_of(const bank::Strategy& strategy) const override;  ///< "fuse_chain[0 1]"

  std::set<std::string> all_nodes() const;
  /// The part with a plan applied. "No": the plan does not fit.
  Result<graph::Graph> part_with(const graph::RewritePlan& plan) const;
};

/// How the graph bank stores a plan, without its measurement, and back. "No": not a plan that this program knows.
bank::Strategy strategy_of(const graph::RewritePlan& plan);
Result<graph::RewritePlan> plan_of(const bank::Strategy& strategy);

/// `node_ns`: by node id, in the untuned model. In model order. Where the model is cut depends on no measurement:
/// what one run banked must be found by the next.
std::vector<SubgraphTask> collect_subgraphs(const graph::Graph& graph, const compiler::Soc& soc,
                                            const std::vector<double>& node_ns);

}  // namespace aoe::tuner
