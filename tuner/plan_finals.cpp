// Oms of the model with one subgraph rewritten, and what that subgraph takes in each.
#include "tuner/plan_finals.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"

namespace aoe::tuner {
namespace {

constexpr std::size_t kMostFinalists = 4;

struct Contestant {
  graph::RewritePlan plan;
  RewrittenGraph rewritten;
  std::filesystem::path om;
  std::vector<double> samples_ns;  ///< all instances together, run by run
};

class Finals {
 public:
  Finals(const SubgraphTask& task, const SubgraphConfirmInput& model, Measurer& measurer)
      : task_(task), model_(model), measurer_(measurer) {}

  void enter(const graph::RewritePlan& plan) {
    const std::vector<PlannedSubgraph> plans = {{&task_, plan}};
    Contestant entered{.plan = plan, .rewritten = rewritten(model_.graph, plans, {})};
    if (entered.rewritten.applied.size() != task_.instances.size()) return;
    entered.om =
        model_.setting.scratch_directory / ("final_" + std::to_string(contestants_.size()) + ".om");
    try {
      compiler::CompileOptions options = model_.compile;
      options.subgraphs = entered.rewritten.applied;
      write_file_atomically(entered.om,
                            compiler::compile(entered.rewritten.graph, options).om.serialize());
    } catch (const Error& e) {
      logger("tuner")->debug("plan '{}' does not compile in the model: {}", graph::to_text(plan),
                             e.what());
      return;
    }
    contestants_.push_back(std::move(entered));
  }

  /// False: a model did not run.
  bool run() {
    std::vector<std::filesystem::path> oms = {model_.setting.untuned_om};
    for (const Contestant& each : contestants_) oms.push_back(each.om);
    const auto timings = measurer_.run_models(oms);
    if (!timings) {
      logger("tuner")->warn("the model does not run: {}", timings.error());
      return false;
    }
    std::set<std::string> before;
    for (const auto& names : task_.nodes) before.insert(names.begin(), names.end());
    before_ns_ = subgraph_ns((*timings)[0], model_.graph, before);
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      std::set<std::string> made;
      for (const auto& each : contestants_[i].rewritten.applied)
        made.insert(each.nodes.begin(), each.nodes.end());
      contestants_[i].samples_ns =
          subgraph_ns((*timings)[i + 1], contestants_[i].rewritten.graph, made);
    }
    return true;
  }

  std::optional<PlanFinal> winner(const std::optional<graph::RewritePlan>& known) const {
    const Contestant *best = nullptr, *stored = nullptr;
    for (const Contestant& each : contestants_) {
      if (known && each.plan == *known) stored = &each;
      if (best == nullptr || compare(each).speedup > compare(*best).speedup) best = &each;
    }
    if (best == nullptr) return std::nullopt;
    const auto instances = static_cast<double>(task_.instances.size());
    PlanFinal final{.plan = best->plan,
                    .time_ns = median(best->samples_ns) / instances,
                    .before_ns = median(before_ns_) / instances,
                    .against_before = compare(*best)};
    if (stored != nullptr && stored != best)
      final.against_known = compare_pairs(stored->samples_ns, best->samples_ns, margin());
    return final;
  }

  void log() const {
    for (const Contestant& each : contestants_)
      logger("tuner")->debug("subgraph={} plan='{}' in the model: us={:.2f} before_us={:.2f} {}",
                             task_.nodes.front().front(), graph::to_text(each.plan),
                             median(each.samples_ns) / 1e3, median(before_ns_) / 1e3,
                             compare(each).verdict);
  }

 private:
  double margin() const { return model_.setting.policy.min_gain; }
  Comparison compare(const Contestant& each) const {
    return compare_pairs(before_ns_, each.samples_ns, margin());
  }

  const SubgraphTask& task_;
  const SubgraphConfirmInput& model_;
  Measurer& measurer_;
  std::vector<Contestant> contestants_;
  std::vector<double> before_ns_;
};

}  // namespace

std::vector<graph::RewritePlan> finalists_of(const PlanSearchResult& found) {
  std::vector<const PlanTrial*> close;
  for (const PlanTrial& trial : found.trials)
    if (trial.ok && trial.ratio() < kCloseRatio) close.push_back(&trial);
  std::ranges::stable_sort(close, {}, [](const PlanTrial* trial) { return trial->ratio(); });
  std::vector<graph::RewritePlan> plans;
  for (const PlanTrial* trial : close)
    if (plans.size() < kMostFinalists) plans.push_back(trial->plan);
  return plans;
}

std::optional<PlanFinal> run_finals(const SubgraphTask& task,
                                    const std::vector<graph::RewritePlan>& finalists,
                                    const std::optional<graph::RewritePlan>& known,
                                    const SubgraphConfirmInput& model, Measurer& measurer) {
  if (finalists.empty()) return std::nullopt;
  Finals finals(task, model, measurer);
  for (const graph::RewritePlan& plan : finalists) finals.enter(plan);
  if (known && std::ranges::find(finalists, *known) == finalists.end()) finals.enter(*known);
  if (!finals.run() || model.setting.is_stopped()) return std::nullopt;
  finals.log();
  return finals.winner(known);
}

}  // namespace aoe::tuner
