// Search, commit, and the race of the plans with what was found.
#include "tuner/session/rewritten_node_tuning.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/log.h"
#include "tuner/search/sampler.h"

namespace aoe::tuner {
using compiler::Candidate;
namespace {

/// The heuristics of all Impls, then single steps from that of the default's Impl, all Formats by turns. With few trials
/// these are the best to begin with: steps gained up to 20% of a chain where as many draws of its eleven axes lost.
std::vector<Candidate> near_the_heuristics(const OperatorTask& task, const compiler::Soc& soc) {
  std::vector<Candidate> list = task.heuristics;
  std::vector<std::vector<Candidate>> steps_by_format;
  std::size_t most = 0;
  for (const Candidate& start : task.heuristics) {
    if (start.impl != task.default_candidate.impl) continue;
    const auto plan = start.impl->plan(task.task, start.format, soc);
    std::vector<Candidate>& steps = steps_by_format.emplace_back();
    for (compiler::Schedule& step : single_steps(*plan, start.schedule))
      steps.push_back({start.impl, start.format, std::move(step)});
    most = std::max(most, steps.size());
  }
  for (std::size_t i = 0; i < most; ++i)
    for (const auto& steps : steps_by_format)
      if (i < steps.size()) list.push_back(steps[i]);
  return list;
}

double ratio_or_infinity(const PlanTrial& trial) {
  return trial.ok ? trial.ratio() : std::numeric_limits<double>::infinity();
}

/// The plans of one subgraph that share a node, before and after that node got another Schedule.
class PlansWithNode {
 public:
  /// `trials`: their places in the finalist's list.
  PlansWithNode(Finalist& finalist, std::vector<std::size_t> trials,
                const PlanBenchContext& context, Measurer& measurer)
      : finalist_(finalist),
        trials_(std::move(trials)),
        bench_(*finalist.task, context, measurer, {}),
        before_om_(context.options.work_directory /
                   ("rewritten_" + finalist.task->key.repo_key() + "_before.om")),
        after_om_(context.options.work_directory / "rewritten_after.om") {}

  /// To be called while the bank knows nothing new. "No": the subgraph does not compile.
  Result<void> prepare() {
    if (auto prepared = bench_.prepare(); !prepared) return prepared;
    const std::size_t fastest = *std::ranges::min_element(
        trials_, {}, [this](std::size_t i) { return ratio_or_infinity(finalist_.trials[i]); });
    return bench_.write(finalist_.trials[fastest].plan, before_om_);
  }

  /// "No": the fastest of the plans fails, or is slower than the fastest was.
  Result<void> race() {
    for (const std::size_t i : trials_)
      results_.push_back(bench_.measure(finalist_.trials[i].plan));
    const PlanTrial& fastest = *std::ranges::min_element(results_, {}, ratio_or_infinity);
    if (!fastest.ok) return Unexpected(fastest.cause);
    if (auto written = bench_.write(fastest.plan, after_om_); !written) return written;
    const auto comparison = bench_.compare(before_om_, after_om_);
    if (!comparison) return Unexpected(comparison.error());
    logger("tuner")->debug("subgraph={} plan='{}' speedup={:.3f} verdict={} by another Schedule",
                           finalist_.task->first_node(), graph::to_text(fastest.plan),
                           comparison->speedup, name(comparison->verdict));
    if (comparison->is_slower()) return Unexpected("it is slower than before");
    return {};
  }

  /// Puts the new trials in place of the old ones, and returns their records.
  std::vector<bank::NewRecord> take_results() {
    for (std::size_t i = 0; i < results_.size(); ++i)
      finalist_.trials[trials_[i]] = std::move(results_[i]);
    return bench_.take_records();
  }

 private:
  Finalist& finalist_;
  const std::vector<std::size_t> trials_;
  PlanBench bench_;
  const std::filesystem::path before_om_, after_om_;
  std::vector<PlanTrial> results_;  ///< by `trials_`
};

}  // namespace

int RewrittenNodeTuning::tune(const RewrittenNode& node, std::vector<Finalist>& finalists,
                              const SearchLimits& limits, const OnBatch& on_batch) {
  const OperatorTask& task = node.task;
  tuner_.learn_for(task);
  const Known known = context_.compile.strategies->find(task.key);
  Conclusion conclusion = tuner_.tune(
      {.task = task,
       .known = known,
       .seeds = near_the_heuristics(task, context_.options.soc),
       .limits = limits,
       .keep_records =
           [&](std::vector<bank::Record> more) { ledger_.keep_records(task.key, std::move(more)); },
       .on_batch = on_batch});
  const int measured = conclusion.measured;
  std::string text =
      fmt::format("made by a rewrite: op={} shape='{}' trials={} heuristic_us={:.2f} us={:.2f}",
                  task.first_node(), task.shape_text(), measured, conclusion.default_ns / 1e3,
                  conclusion.best_ns / 1e3);
  if (!is_win(conclusion.decision)) {
    ledger_.settle(task, std::move(conclusion), known);
  } else {
    const bank::Strategy winner = conclusion.strategies.front();
    const auto kept = try_in_subgraphs(node, std::move(conclusion), known, finalists);
    if (kept) tuner_.note_winner(task, winner);
    text += kept ? " kept" : " not kept: " + kept.error();
  }
  logger("tuner")->info("{}", text);
  return measured;
}

void RewrittenNodeTuning::conclude(Fate fate) {
  if (fate == Fate::kConfirmed) ledger_.confirm({});
  if (fate == Fate::kDemoted) ledger_.withdraw_all();
}

Result<void> RewrittenNodeTuning::try_in_subgraphs(const RewrittenNode& node, Conclusion conclusion,
                                                   const Known& known,
                                                   std::vector<Finalist>& finalists) {
  std::map<std::size_t, std::vector<std::size_t>> trials_of;  // by finalist
  for (const PlanUse use : node.uses) trials_of[use.finalist].push_back(use.trial);
  std::vector<PlansWithNode> all;
  for (const auto& [finalist, trials] : trials_of) {
    all.emplace_back(finalists[finalist], trials, context_, measurer_);
    if (auto prepared = all.back().prepare(); !prepared) {
      ledger_.flush();
      return prepared;
    }
  }
  ledger_.settle(node.task, std::move(conclusion), known);
  for (PlansWithNode& plans : all) {
    auto raced = plans.race();
    if (context_.options.stop.stop_requested() || context_.options.deadline.has_passed())
      return {};  // no judgement
    if (raced) continue;
    ledger_.withdraw(node.task);
    return raced;
  }
  for (PlansWithNode& plans : all) banks_.graph.commit({.records = plans.take_results()});
  return {};
}

}  // namespace aoe::tuner
