// Three rounds of races in the model.
#include "tuner/plan_finals.h"

#include <algorithm>

#include "base/log.h"

namespace aoe::tuner {
using graph::PlanStep;
using graph::RewritePlan;
namespace {

constexpr std::size_t kMostSingle = 24, kFewestSingle = 4, kMostCombined = 3, kMostChoices = 3;
/// Of all oms of the first races together: those of a large model take long to write.
constexpr std::uintmax_t kMostOmBytes = std::uintmax_t{2} << 30;
/// Alone slower than this it is not worth a run in the model, where the difference is at most the traffic it saves.
constexpr double kMuchSlower = 1.25;
constexpr double kCloseTogether = 1.05;

bool is_new(const std::vector<RewritePlan>& plans, const RewritePlan& plan) {
  return !plan.steps.empty() && std::ranges::find(plans, plan) == plans.end();
}

const SubgraphPlace* place_of(const SubgraphTask& task, const PlanStep& step) {
  const auto found = std::ranges::find_if(task.places, [&](const SubgraphPlace& place) {
    return place.kind == step.kind && place.nodes == step.nodes;
  });
  return found == task.places.end() ? nullptr : &*found;
}

/// The plan with the first choices of all its steps, with the second ones, and so on: which Format suits, say, shows in the
/// model only.
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

bool was_verified(const std::vector<PlanInModel>& results, const RewritePlan& plan) {
  return std::ranges::find(results, plan, &PlanInModel::plan) != results.end();
}

bool is_new_place(const std::vector<RewritePlan>& singles, const PlanStep& step) {
  return std::ranges::none_of(singles, [&](const RewritePlan& plan) {
    return plan.steps.front().kind == step.kind && plan.steps.front().nodes == step.nodes;
  });
}

class Finals {
 public:
  Finals(const std::vector<Finalist>& finalists, const VerifyPlan& verify,
         const SubgraphConfirmInput& model, Measurer& measurer)
      : finalists_(finalists), verify_(verify), model_(model), measurer_(measurer) {}

  Result<std::vector<std::optional<PlanFinal>>> run() {
    std::vector<Entrants> entrants = entrants_of_trials();
    const auto singles = race(entrants);
    if (!singles) return Unexpected(singles.error());
    for (std::size_t i = 0; i < entrants.size(); ++i)
      entrants[i].plans = combined(*entrants[i].task, (*singles)[i]);
    const auto together = race(entrants);
    if (!together) return Unexpected(together.error());
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      entrants[i].plans.clear();
      if (const PlanInModel* best = fastest((*together)[i])) entrants[i].plans = {best->plan};
      if (finalists_[i].known && is_new(entrants[i].plans, *finalists_[i].known))
        entrants[i].plans.push_back(*finalists_[i].known);
    }
    return decide(entrants);
  }

 private:
  std::vector<Entrants> entrants_of_trials() const {
    const std::uintmax_t om_bytes = std::filesystem::file_size(model_.setting.untuned_om);
    const auto most = static_cast<std::size_t>(std::clamp<std::uintmax_t>(
        kMostOmBytes / std::max<std::uintmax_t>(1, om_bytes), kFewestSingle, kMostSingle));
    std::vector<Entrants> entrants;
    for (const Finalist& each : finalists_)
      entrants.push_back({each.task, plans_for_the_model(each.trials, most)});
    return entrants;
  }

  Result<std::vector<std::vector<PlanInModel>>> race(const std::vector<Entrants>& entrants) {
    auto results = race_in_model(entrants, model_, measurer_);
    if (!results) return results;
    for (std::size_t i = 0; i < entrants.size(); ++i)
      for (const PlanInModel& each : (*results)[i])
        logger("tuner")->debug("subgraph={} plan='{}' in the model: us={:.2f} before_us={:.2f} {}",
                               entrants[i].task->nodes.front().front(), graph::to_text(each.plan),
                               median(each.after_ns) / 1e3, median(each.before_ns) / 1e3,
                               compare(each).verdict);
    return results;
  }

  /// What gains the most together, of all rewrites and of those that are beyond doubt, beside the best plans so far.
  std::vector<RewritePlan> combined(const SubgraphTask& task,
                                    const std::vector<PlanInModel>& results) const {
    std::vector<WeighedStep> all, certain;
    for (const PlanInModel& each : results) {
      if (each.plan.steps.size() != 1 || each.gain_ns() <= 0) continue;
      const WeighedStep step{each.plan.steps.front(), each.gain_ns()};
      all.push_back(step);
      if (compare(each).verdict == "faster") certain.push_back(step);
    }
    std::vector<RewritePlan> plans;
    const auto add = [&](const RewritePlan& plan) {
      if (is_new(plans, plan) && (was_verified(results, plan) || verify_(task, plan)))
        plans.push_back(plan);
    };
    if (const PlanInModel* best = fastest(results)) add(best->plan);
    for (const auto& steps : {all, certain}) add(best_combination(steps));
    if (!plans.empty())
      for (const RewritePlan& other : with_other_choices(task, plans.back())) add(other);
    return plans;
  }

  /// The best of several is partly the luckiest: races of its own tell what it is worth.
  Result<std::vector<std::optional<PlanFinal>>> decide(const std::vector<Entrants>& entrants) {
    auto results = race(entrants);
    if (!results) return Unexpected(results.error());
    const auto more = race(entrants);
    if (!more) return Unexpected(more.error());
    for (std::size_t i = 0; i < entrants.size(); ++i)
      for (std::size_t k = 0; k < std::min((*results)[i].size(), (*more)[i].size()); ++k)
        append((*results)[i][k], (*more)[i][k]);
    std::vector<std::optional<PlanFinal>> finals(entrants.size());
    for (std::size_t i = 0; i < entrants.size(); ++i)
      finals[i] = final_of(finalists_[i], (*results)[i]);
    return finals;
  }

  static void append(PlanInModel& to, const PlanInModel& more) {
    to.before_ns.insert(to.before_ns.end(), more.before_ns.begin(), more.before_ns.end());
    to.after_ns.insert(to.after_ns.end(), more.after_ns.begin(), more.after_ns.end());
  }

  std::optional<PlanFinal> final_of(const Finalist& finalist,
                                    const std::vector<PlanInModel>& results) const {
    const PlanInModel* best = fastest(results);
    if (best == nullptr) return std::nullopt;
    const auto instances = static_cast<double>(finalist.task->instances.size());
    PlanFinal final{.plan = best->plan,
                    .time_ns = median(best->after_ns) / instances,
                    .before_ns = median(best->before_ns) / instances,
                    .against_before = compare(*best)};
    for (const PlanInModel& each : results)
      if (&each != best)
        final.against_known = compare_pairs(each.after_ns, best->after_ns, margin());
    return final;
  }

  const PlanInModel* fastest(const std::vector<PlanInModel>& results) const {
    const auto best = std::ranges::max_element(
        results, {}, [&](const PlanInModel& each) { return compare(each).speedup; });
    return best == results.end() ? nullptr : &*best;
  }

  double margin() const { return model_.setting.policy.min_gain; }
  Comparison compare(const PlanInModel& each) const {
    return compare_pairs(each.before_ns, each.after_ns, margin());
  }

  const std::vector<Finalist>& finalists_;
  const VerifyPlan& verify_;
  const SubgraphConfirmInput& model_;
  Measurer& measurer_;
};

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

Result<std::vector<std::optional<PlanFinal>>> run_finals(const std::vector<Finalist>& finalists,
                                                         const VerifyPlan& verify,
                                                         const SubgraphConfirmInput& model,
                                                         Measurer& measurer) {
  return Finals(finalists, verify, model, measurer).run();
}

}  // namespace aoe::tuner
