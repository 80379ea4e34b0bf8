// Applies the graph bank: rows of atoms that it knows as subgraphs are rewritten as subgraph tuning
// found best. Comes between the graph passes and compile().
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "bank/strategy.h"
#include "compiler/soc.h"
#include "graph/bodies.h"
#include "graph/graph.h"
#include "graph/subgraphs/atoms.h"
#include "graph/subgraphs/canonical_form.h"
#include "graph/subgraphs/rewrite_plan.h"

namespace aoe::compiler {

/// A part of a graph that was rewritten. Names are those of profiles: "loop/op".
struct AppliedSubgraph {
  std::string repo_key;
  std::string description;         ///< of its canonical form
  std::set<std::string> replaced;  ///< names of its nodes before
  std::set<std::string> nodes;     ///< and after
  std::string plan;                ///< in words
  double gain_ns = 0;              ///< as measured when it was won
};

/// The key under which the graph bank has a subgraph.
bank::TaskKey subgraph_key(const graph::CanonicalForm& form, const Soc& soc);

/// What a strategy of the graph bank does. "No": not a plan of this schema.
Result<graph::RewritePlan> plan_of(const bank::Strategy& strategy);

/// A subgraph of a model: the graph it lies in, and its canonical form there.
struct SubgraphInstance {
  graph::BodyPath in;
  graph::CanonicalForm form;
};

/// Applies a plan to one subgraph, given by its canonical order; "no" leaves the graph as it was. Ids stay valid.
Result<AppliedSubgraph> apply_to_subgraph(graph::Graph& model, const SubgraphInstance& instance,
                                          const graph::RewritePlan& plan);

/// Compacts the graphs that plans were applied to, and verifies them; `by` names who applied them.
void finish_rewriting(graph::Graph& model, const std::set<graph::BodyPath>& changed,
                      const std::string& by);

/// Looks up every row of atoms, in the model and in bodies, and applies the disjoint ones with the greatest sum of gains.
/// Ends with compact() where anything was applied.
std::vector<AppliedSubgraph> apply_graph_strategies(graph::Graph& graph,
                                                    const bank::StrategySource& graph_bank,
                                                    const Soc& soc);

}  // namespace aoe::compiler
