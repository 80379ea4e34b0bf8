// The finals of subgraph tuning, in the whole model and for all subgraphs at once: every rewrite by itself, then those
// that gain together, then the best two plans of each subgraph once more, which decides.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tuner/search/plan_search.h"
#include "tuner/session/plan_race.h"

namespace aoe::tuner {

/// A searched subgraph.
struct Finalist {
  const SubgraphTask* task = nullptr;
  std::vector<PlanTrial> trials;            ///< of the subgraph alone
  std::optional<graph::RewritePlan> known;  ///< a stored plan that the winner shall replace
};

/// The best plan of a subgraph; times are medians of one instance in the model.
struct PlanFinal {
  graph::RewritePlan plan;
  double time_ns = 0;
  double before_ns = 0;  ///< of the subgraph as it is
  Comparison against_before;
  std::optional<Comparison> against_known;  ///< when it is not the stored plan itself
};

/// Whether the subgraph with this plan computes what the reference says.
using VerifyPlan = std::function<bool(const SubgraphTask&, const graph::RewritePlan&)>;

/// By finalist; nothing where no plan came near. "No": a model does not compile or run, or the run was stopped.
Result<std::vector<std::optional<PlanFinal>>> run_finals(const std::vector<Finalist>& finalists,
                                                         const VerifyPlan& verify,
                                                         const PlanModel& model,
                                                         Measurer& measurer);

}  // namespace aoe::tuner
