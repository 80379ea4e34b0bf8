// Nodes that rewrites make and that no operator tuning has seen, a fused chain above all: they run with the heuristic
// Schedule where what they replace runs with a tuned one. Here: which of them are worth a search of their own.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tuner/session/plan_bench.h"
#include "tuner/session/plan_finals.h"
#include "tuner/tasks/operator_list.h"

namespace aoe::tuner {

/// A trial of a finalist.
struct PlanUse {
  std::size_t finalist = 0;
  std::size_t trial = 0;
};

struct RewrittenNode {
  OperatorTask task;              ///< heuristics: of `formats` alone
  std::set<std::string> formats;  ///< in which its plans came near
  std::vector<PlanUse> uses;      ///< plans that make this node and nothing else that is new
  int trials = 0;                 ///< that its search may make
};

struct RewrittenNodeInput {
  const std::vector<Finalist>& finalists;
  const PlanBenchContext& context;
  const NodeTimes& times;
};

/// Those first whose plans have the most to gain, until the trials are given away that the policy has for all of them. A
/// node that the op bank knows is none, unless tuning is repeated; nor is one whose parts it does not know: tuned chains
/// would race untuned operators.
std::vector<RewrittenNode> find_rewritten_nodes(const RewrittenNodeInput& input);

}  // namespace aoe::tuner
