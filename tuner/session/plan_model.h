// Rewrite plans put into the whole model.
#pragma once

#include <vector>

#include "compiler/compiler.h"
#include "tuner/session/confirmation.h"
#include "tuner/tasks/subgraph_list.h"

namespace aoe::tuner {

/// The model that plans go into, and how it is measured.
struct PlanModel {
  const graph::Graph& graph;
  compiler::CompileOptions compile;  ///< with the operators' strategies
  const StepIndex& steps;            ///< of the untuned om
  ConfirmSetting setting;
};

struct PlannedSubgraph {
  const SubgraphTask* task = nullptr;
  graph::RewritePlan plan;
};

/// The model with the plans in all instances that take them; no suspects. Throws Error when it does not compile.
ConfirmAttempt with_plans(const std::vector<PlannedSubgraph>& plans, const PlanModel& model);

}  // namespace aoe::tuner
