// Confirmation of rewrites in the whole model, where caches and neighbours are what they are.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "tuner/measurer.h"
#include "tuner/statistics.h"
#include "tuner/subgraph_list.h"

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

struct SubgraphConfirmInput {
  const graph::Graph& graph;
  compiler::CompileOptions compile;  ///< with the operators' strategies
  const std::vector<PlannedSubgraph>& plans;
  std::filesystem::path untuned_om;
  std::filesystem::path scratch_directory;  ///< for the oms under test
  const ConfirmPolicy& policy;
  std::function<bool()> is_stopped;
};

struct SubgraphConfirmation {
  double untuned_ns = 0;  ///< medians of the round that decided
  double tuned_ns = 0;
  Comparison comparison;
  std::set<std::string> demoted;  ///< descriptions of subgraphs that the chosen om leaves as it was
  std::string om;                 ///< the tuned model, serialized
};

/// Compiles, measures, and takes back what is slower in its place until nothing is or the rounds
/// are used up; the fastest of the rounds counts. "No": a model did not run, or the run was stopped.
Result<SubgraphConfirmation> confirm_subgraphs(const SubgraphConfirmInput& input,
                                               Measurer& measurer);

}  // namespace aoe::tuner
