// Places alone, together, then evolution.
#include "tuner/search/plan_search.h"

#include <algorithm>

namespace aoe::tuner {
using graph::PlanStep;
using graph::RewritePlan;
namespace {

PlanStep step_of(const SubgraphPlace& place, const graph::RewriteParams& params) {
  return {place.kind, place.version, place.nodes, params};
}

class PlanSearch {
 public:
  PlanSearch(const std::vector<SubgraphPlace>& places, const MeasurePlan& measure,
             const PlanSearchLimits& limits, std::uint64_t seed)
      : places_(places), measure_(measure), limits_(limits), random_(seed) {}

  PlanSearchResult run() {
    try_each_alone();
    try_together();
    evolve();
    return std::move(result_);
  }

 private:
  bool is_over() const {
    return limits_.stop.stop_requested() ||
           static_cast<int>(result_.trials.size()) >= limits_.trials ||
           limits_.deadline.has_passed();
  }

  /// The trial of a plan that was not tried before; nullptr otherwise.
  const PlanTrial* attempt(RewritePlan plan) {
    std::ranges::sort(plan.steps, {}, &PlanStep::nodes);
    if (plan.steps.empty() || !plan.is_disjoint() || !tried_.insert(graph::to_text(plan)).second)
      return nullptr;
    result_.trials.push_back(measure_(plan));
    const PlanTrial& trial = result_.trials.back();
    const double to_beat = result_.best ? result_.best->ratio() : 1.0;
    if (trial.ok && trial.ratio() < to_beat * (1 - limits_.noise)) {
      result_.best = trial;
      since_best_ = 0;
    } else {
      ++since_best_;
    }
    return &trial;
  }

  /// First the best guess of every place, then the other choices.
  void try_each_alone() {
    std::size_t most = 0;
    for (const SubgraphPlace& place : places_) most = std::max(most, place.choices.size());
    for (std::size_t choice = 0; choice < most; ++choice) {
      for (const SubgraphPlace& place : places_) {
        if (is_over()) return;
        if (choice >= place.choices.size()) continue;
        const PlanStep step = step_of(place, place.choices[choice]);
        const PlanTrial* trial = attempt({{step}});
        if (trial != nullptr && trial->ok && trial->ratio() < 1)
          winners_.emplace_back(trial->ratio(), step);
      }
    }
  }

  /// What won alone, greedily by gain; it may work together or not.
  void try_together() {
    if (is_over()) return;
    std::ranges::stable_sort(winners_, {}, [](const auto& each) { return each.first; });
    RewritePlan all;
    for (const auto& [ratio, step] : winners_) {
      all.steps.push_back(step);
      if (!all.is_disjoint()) all.steps.pop_back();
    }
    attempt(std::move(all));
  }

  void evolve() {
    if (places_.size() < 2 || !result_.best) return;
    since_best_ = 0;
    // A small subgraph runs out of plans: proposals that were tried count as well.
    for (int idle = 0; !is_over() && since_best_ < limits_.patience && idle < 4 * limits_.patience;)
      idle = attempt(mutated(result_.best->plan)) == nullptr ? idle + 1 : 0;
  }

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  /// One place more, less, or otherwise.
  RewritePlan mutated(RewritePlan plan) {
    const SubgraphPlace& place = places_[below(places_.size())];
    const PlanStep added = step_of(place, place.choices[below(place.choices.size())]);
    std::erase_if(plan.steps, [&](const PlanStep& step) {
      return std::ranges::any_of(step.nodes, [&](int node) {
        return std::ranges::find(added.nodes, node) != added.nodes.end();
      });
    });
    if (below(4) != 0 || plan.steps.empty()) plan.steps.push_back(added);
    return plan;
  }

  const std::vector<SubgraphPlace>& places_;
  const MeasurePlan& measure_;
  const PlanSearchLimits& limits_;
  std::mt19937_64 random_;
  PlanSearchResult result_;
  std::set<std::string> tried_;
  std::vector<std::pair<double, PlanStep>> winners_;
  int since_best_ = 0;
};

}  // namespace

PlanSearchResult search_plans(const std::vector<SubgraphPlace>& places, const MeasurePlan& measure,
                              const PlanSearchLimits& limits, std::uint64_t seed) {
  return PlanSearch(places, measure, limits, seed).run();
}

}  // namespace aoe::tuner
