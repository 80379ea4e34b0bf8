// The tuning work of a model's subgraphs: its distinct subgraphs in which something can be
// rewritten, each with all places where it stands, in bodies of If, Loop and Scan as well.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/lowering/graph_strategies.h"
#include "tuner/search/plan_search.h"
#include "tuner/tasks/node_times.h"
#include "tuner/tasks/tunable.h"

namespace aoe::tuner {

struct SubgraphTask final : Tunable {
  std::vector<compiler::SubgraphInstance> instances;
  graph::Graph part;  ///< the first instance by itself; its nodes are in canonical order
  std::string first;  ///< name of its first node in the model: "loop/op"
  std::vector<SubgraphPlace> rewrites;  ///< largest expectation first
  std::string types;                    ///< "2xConv2D+Relu"

  const std::string& first_node() const override { return first; }
  int places() const override { return static_cast<int>(instances.size()); }
  std::string type_text() const override { return types; }
  Result<void> accepts(const bank::Strategy& stored, const compiler::Soc& soc) const override;
  bank::Strategy default_strategy(const bank::Strategy& other) const override;
  std::string text_of(const bank::Strategy& strategy) const override;  ///< "fuse_chain[0 1]"

  /// Nodes of the model in whose time its own is: of instances in bodies those that run them.
  std::set<graph::NodeId> controls() const;
  /// The part with a plan applied. "No": the plan does not fit.
  Result<graph::Graph> part_with(const graph::RewritePlan& plan) const;
};

/// How the graph bank stores a plan, without its measurement; compiler::plan_of() is the way back.
bank::Strategy strategy_of(const graph::RewritePlan& plan);

/// In model order, those in bodies behind the others. Where the model is cut depends on no measurement: what one run banked
/// must be found by the next.
std::vector<SubgraphTask> collect_subgraphs(const graph::Graph& model, const compiler::Soc& soc,
                                            const NodeTimes& times);

}  // namespace aoe::tuner
