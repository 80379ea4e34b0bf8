// The search over rewrite plans of one subgraph: every place alone, the best of each place
// together, then mutations of the best. Knows plans and their times, not how these come about.
// Tested by tests/tuner/search/plan_search_test.cpp with times from a formula.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "graph/subgraphs/rewrite_plan.h"
#include "tuner/deadline.h"

namespace aoe::tuner {

/// What a kind of rewrite can do inside a subgraph; nodes are canonical ids.
struct SubgraphPlace {
  std::string kind;
  int version = 0;
  std::vector<int> nodes;
  std::vector<graph::RewriteParams> choices;
  double expected_ns = 0;  ///< a guess of what goes away, from flops and bytes
};

struct PlanTrial {
  graph::RewritePlan plan;
  bool ok = false;
  std::string cause;   ///< why there is no time
  double time_ns = 0;  ///< medians of a race against the subgraph as it is
  double before_ns = 0;
  double ratio() const { return time_ns / before_ns; }
};

struct PlanSearchLimits {
  int trials = 64;
  int patience = 12;    ///< mutations without a better plan that end the search
  double noise = 0.01;  ///< "better" means by more than this
  Deadline deadline;
  std::stop_token stop;
};

struct PlanSearchResult {
  std::vector<PlanTrial> trials;
  std::optional<PlanTrial> best;  ///< faster than the subgraph as it is; none: nothing is
};

using MeasurePlan = std::function<PlanTrial(const graph::RewritePlan&)>;

PlanSearchResult search_plans(const std::vector<SubgraphPlace>& places, const MeasurePlan& measure,
                              const PlanSearchLimits& limits, std::uint64_t seed);

}  // namespace aoe::tuner
