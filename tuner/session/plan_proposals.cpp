// Filters, the exact combination, and variants.
#include "tuner/session/plan_proposals.h"

#include <algorithm>

namespace aoe::tuner {
using graph::PlanStep;
using graph::RewritePlan;
namespace {

constexpr std::size_t kMostCombined = 3, kMostChoices = 3;
/// Alone slower than this it is not worth a run in the model, where the difference is at most the traffic it saves.
constexpr double kMuchSlower = 1.25;
constexpr double kCloseTogether = 1.05;

bool is_new_place(const std::vector<RewritePlan>& singles, const PlanStep& step) {
  return std::ranges::none_of(singles, [&](const RewritePlan& plan) {
    return plan.steps.front().kind == step.kind && plan.steps.front().nodes == step.nodes;
  });
}

const SubgraphPlace* place_of(const SubgraphTask& task, const PlanStep& step) {
  const auto found = std::ranges::find_if(task.rewrites, [&](const SubgraphPlace& place) {
    return place.kind == step.kind && place.nodes == step.nodes;
  });
  return found == task.rewrites.end() ? nullptr : &*found;
}

bool overlap(const PlanStep& a, const PlanStep& b) {
  return std::ranges::any_of(
      a.nodes, [&](int node) { return std::ranges::find(b.nodes, node) != b.nodes.end(); });
}

/// Branch and bound over steps in descending order of gain.
class Combination {
 public:
  explicit Combination(std::vector<WeighedStep> steps) : steps_(std::move(steps)) {
    std::ranges::stable_sort(steps_, std::ranges::greater{}, &WeighedStep::gain_ns);
    rest_.assign(steps_.size() + 1, 0);
    for (std::size_t i = steps_.size(); i > 0; --i) rest_[i - 1] = rest_[i] + steps_[i - 1].gain_ns;
  }

  RewritePlan best() {
    visit(0, 0);
    RewritePlan plan;
    for (const std::size_t i : best_) plan.steps.push_back(steps_[i].step);
    std::ranges::sort(plan.steps, {}, &PlanStep::nodes);
    return plan;
  }

 private:
  void visit(std::size_t next, double gain) {
    if (gain > best_gain_) {
      best_gain_ = gain;
      best_ = chosen_;
    }
    if (next == steps_.size() || gain + rest_[next] <= best_gain_) return;
    const bool is_free = std::ranges::none_of(
        chosen_, [&](std::size_t i) { return overlap(steps_[i].step, steps_[next].step); });
    if (is_free) {
      chosen_.push_back(next);
      visit(next + 1, gain + steps_[next].gain_ns);
      chosen_.pop_back();
    }
    visit(next + 1, gain);
  }

  std::vector<WeighedStep> steps_;
  std::vector<double> rest_;  ///< gains from a step on
  std::vector<std::size_t> chosen_, best_;
  double best_gain_ = 0;
};

}  // namespace

std::vector<RewritePlan> plans_for_the_model(const std::vector<PlanTrial>& trials,
                                             std::size_t most) {
  std::vector<const PlanTrial*> sorted;
  for (const PlanTrial& trial : trials)
    if (trial.ok) sorted.push_back(&trial);
  std::ranges::stable_sort(sorted, {}, [](const PlanTrial* trial) { return trial->ratio(); });
  std::vector<RewritePlan> single, combined;
  for (const PlanTrial* trial : sorted) {
    const bool is_single = trial->plan.steps.size() == 1;
    if (is_single && trial->ratio() < kMuchSlower && single.size() < most &&
        is_new_place(single, trial->plan.steps.front()))
      single.push_back(trial->plan);
    if (!is_single && trial->ratio() < kCloseTogether && combined.size() < kMostCombined)
      combined.push_back(trial->plan);
  }
  single.insert(single.end(), combined.begin(), combined.end());
  return single;
}

RewritePlan best_combination(const std::vector<WeighedStep>& steps) {
  return Combination(steps).best();
}

std::vector<RewritePlan> with_other_choices(const SubgraphTask& task, const RewritePlan& plan) {
  std::size_t most = 0;
  for (const PlanStep& step : plan.steps)
    if (const SubgraphPlace* place = place_of(task, step))
      most = std::max(most, place->choices.size());
  std::vector<RewritePlan> plans;
  for (std::size_t choice = 0; choice < std::min(most, kMostChoices); ++choice) {
    RewritePlan other = plan;
    for (PlanStep& step : other.steps) {
      const SubgraphPlace* place = place_of(task, step);
      if (place != nullptr && choice < place->choices.size()) step.params = place->choices[choice];
    }
    plans.push_back(std::move(other));
  }
  return plans;
}

}  // namespace aoe::tuner
