// Races of rewrite plans inside the whole model. What passes between ops stays in the caches of a subgraph that runs alone
// again and again; in the model it may not, and there plans that save memory traffic win more, and others less.
//
// One om holds one plan of every subgraph, and the times of its steps tell what each of them is worth: a race of the n-th
// plans of all subgraphs costs as much as that of one. But subgraphs in bodies that one step runs take turns.
#pragma once

#include <vector>

#include "base/statistics.h"
#include "tuner/session/plan_model.h"

namespace aoe::tuner {

/// A plan and what all instances of its subgraph took, run by run; sample i of both lists belongs to one round. Of instances
/// in bodies it is what the steps took that run them.
struct PlanInModel {
  graph::RewritePlan plan;
  std::vector<double> before_ns, after_ns;

  double gain_ns() const { return median(before_ns) - median(after_ns); }
};

/// To those of the same plan, or as one more.
void add_samples(std::vector<PlanInModel>& results, const PlanInModel& more);

struct Entrants {
  const SubgraphTask* task = nullptr;
  std::vector<graph::RewritePlan> plans;
};

/// By entrants, the plans that could be applied to all instances; the oms are raced so many `times`. Of several lots of oms
/// none but the first begins after `until`, and none is raced again. "No": an om does not compile or run.
Result<std::vector<std::vector<PlanInModel>>> race_in_model(const std::vector<Entrants>& entrants,
                                                            const PlanModel& model,
                                                            Measurer& measurer, int times = 1,
                                                            const Deadline& until = {});

}  // namespace aoe::tuner
