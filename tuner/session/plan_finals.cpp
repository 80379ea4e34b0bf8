// Three rounds of races in the model.
#include "tuner/session/plan_finals.h"

#include <algorithm>

#include "base/log.h"
#include "tuner/session/plan_proposals.h"

namespace aoe::tuner {
using graph::RewritePlan;
namespace {

constexpr std::size_t kMostSingle = 24, kFewestSingle = 4, kMostToDecide = 2;
/// Of all oms of the first races together: those of a large model take long to write.
constexpr std::uintmax_t kMostOmBytes = std::uintmax_t{2} << 30;
constexpr double kLeftForOthers = 0.5;

bool is_new(const std::vector<RewritePlan>& plans, const RewritePlan& plan) {
  return !plan.steps.empty() && std::ranges::find(plans, plan) == plans.end();
}

bool was_verified(const std::vector<PlanInModel>& results, const RewritePlan& plan) {
  return std::ranges::find(results, plan, &PlanInModel::plan) != results.end();
}

class Finals {
 public:
  Finals(const std::vector<Finalist>& finalists, const VerifyPlan& verify, const PlanModel& model,
         Measurer& measurer)
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
      entrants[i].plans = fastest_plans(pooled((*singles)[i], (*together)[i]));
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

  Result<std::vector<std::vector<PlanInModel>>> race(const std::vector<Entrants>& entrants,
                                                     int times = 1) {
    // Three races are ahead at most: none of them may take what the others need.
    const Deadline& end = model_.setting.deadline;
    const Deadline until = end.is_set() ? end.sooner_by(end.left_s() * kLeftForOthers) : end;
    auto results = race_in_model(entrants, model_, measurer_, times, until);
    if (!results) return results;
    for (std::size_t i = 0; i < entrants.size(); ++i)
      for (const PlanInModel& each : (*results)[i])
        logger("tuner")->debug("subgraph={} plan='{}' in the model: us={:.2f} before_us={:.2f} {}",
                               entrants[i].task->first_node(), graph::to_text(each.plan),
                               median(each.after_ns) / 1e3, median(each.before_ns) / 1e3,
                               name(compare(each).verdict));
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
      if (compare(each).is_faster()) certain.push_back(step);
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
    constexpr int kTimes = 2;
    const auto results = race(entrants, kTimes);
    if (!results) return Unexpected(results.error());
    std::vector<std::optional<PlanFinal>> finals(entrants.size());
    for (std::size_t i = 0; i < entrants.size(); ++i)
      finals[i] = final_of(finalists_[i], (*results)[i]);
    return finals;
  }

  /// Of a plan that ran in both, all samples count.
  static std::vector<PlanInModel> pooled(std::vector<PlanInModel> results,
                                         const std::vector<PlanInModel>& more) {
    for (const PlanInModel& each : more) add_samples(results, each);
    return results;
  }

  std::vector<RewritePlan> fastest_plans(std::vector<PlanInModel> results) const {
    std::ranges::stable_sort(results, std::ranges::greater{},
                             [&](const PlanInModel& each) { return compare(each).speedup; });
    std::vector<RewritePlan> plans;
    for (const PlanInModel& each : results)
      if (plans.size() < kMostToDecide) plans.push_back(each.plan);
    return plans;
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
      if (&each != best && finalist.known && each.plan == *finalist.known)
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
  const PlanModel& model_;
  Measurer& measurer_;
};

}  // namespace

Result<std::vector<std::optional<PlanFinal>>> run_finals(const std::vector<Finalist>& finalists,
                                                         const VerifyPlan& verify,
                                                         const PlanModel& model,
                                                         Measurer& measurer) {
  return Finals(finalists, verify, model, measurer).run();
}

}  // namespace aoe::tuner
