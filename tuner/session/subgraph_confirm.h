// Confirmation of rewrites in the whole model, where caches and neighbours are what they are.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "tuner/session/confirm_rounds.h"
#include "tuner/tasks/subgraph_list.h"

namespace aoe::tuner {

struct PlannedSubgraph {
  const SubgraphTask* task = nullptr;
  graph::RewritePlan plan;
};

/// The graph with all plans applied, and what was done.
struct RewrittenGraph {
  graph::Graph graph;
  std::vector<compiler::AppliedSubgraph> applied;
};
RewrittenGraph rewritten(const graph::Graph& graph, const std::vector<PlannedSubgraph>& plans,
                         const std::set<std::string>& without);

/// What a subgraph takes, run by run: its nodes of `graph`, and the conversions of what they read and make.
std::vector<double> subgraph_ns(const ModelTiming& timing, const graph::Graph& graph,
                                const std::set<std::string>& nodes);

struct SubgraphConfirmInput {
  const graph::Graph& graph;
  compiler::CompileOptions compile;  ///< with the operators' strategies
  const std::vector<PlannedSubgraph>& plans;
  ConfirmSetting setting;
};

/// What is demoted are subgraphs, by description. "No": a model did not run, or the run was stopped.
Result<Confirmation> confirm_subgraphs(const SubgraphConfirmInput& input, Measurer& measurer);

}  // namespace aoe::tuner
