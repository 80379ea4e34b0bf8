// Which plans of a subgraph the finals run in the model, from its trials alone and then from what single rewrites gained
// there.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/search/plan_search.h"
#include "tuner/tasks/subgraph_list.h"

namespace aoe::tuner {

/// At most `most` single rewrites that are not much slower alone, each with its fastest choice, the fastest first; then the
/// fastest of the plans that combine several.
std::vector<graph::RewritePlan> plans_for_the_model(const std::vector<PlanTrial>& trials,
                                                    std::size_t most);

struct WeighedStep {
  graph::PlanStep step;
  double gain_ns = 0;
};
/// The steps without a common node that gain the most together; exact. Empty when nothing gains.
graph::RewritePlan best_combination(const std::vector<WeighedStep>& steps);

/// The plan with the first choices of all its steps, with the second ones, and so on: which Format suits, say, shows in the
/// model only.
std::vector<graph::RewritePlan> with_other_choices(const SubgraphTask& task,
                                                   const graph::RewritePlan& plan);

}  // namespace aoe::tuner
