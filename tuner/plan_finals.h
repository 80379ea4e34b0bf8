// The finals of a subgraph's search: its best plans against each other in the whole model. What passes between ops
// stays in the caches of a subgraph that runs alone again and again, and does not in the model: there plans that save
// memory traffic win more, and others less.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/statistics.h"
#include "tuner/subgraph_confirm.h"
#include "tuner/subgraph_search.h"

namespace aoe::tuner {

/// Plans worth a run in the model, the fastest alone first: faster than the subgraph as it is, or not much slower.
std::vector<graph::RewritePlan> finalists_of(const PlanSearchResult& found);

/// The fastest of the finalists; times are medians of one instance in the model.
struct PlanFinal {
  graph::RewritePlan plan;
  double time_ns = 0;
  double before_ns = 0;  ///< of the subgraph as it is
  Comparison against_before;
  std::optional<Comparison> against_known;
};

/// `known`: a stored plan that the winner shall replace. Nothing when there are no finalists or one of the models does not
/// run.
std::optional<PlanFinal> run_finals(const SubgraphTask& task,
                                    const std::vector<graph::RewritePlan>& finalists,
                                    const std::optional<graph::RewritePlan>& known,
                                    const SubgraphConfirmInput& model, Measurer& measurer);

}  // namespace aoe::tuner
