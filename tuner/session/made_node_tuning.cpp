// Search, commit, and the race of the plans with what was found.
#include "tuner/session/made_node_tuning.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "tuner/search/sampler.h"
#include "tuner/session/plan_rerun.h"

namespace aoe::tuner {
using compiler::Candidate;
namespace {

constexpr std::size_t kNeighbourSeeds = 3;

bool is_win(const TaskVerdict& verdict) {
  return verdict.decision == Decision::kAdd || verdict.decision == Decision::kUpdate;
}

/// The heuristics of all Impls, then single steps from that of the default's Impl, all Formats by turns. With few trials
/// these are the best to begin with: steps gained up to 20% of a chain where as many draws of its eleven axes lost.
std::vector<Candidate> near_the_heuristics(const TuningTask& task, const compiler::Soc& soc) {
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

}  // namespace

int MadeNodeTuning::tune(const MadeNode& node, std::vector<Finalist>& finalists,
                         const SearchLimits& limits, const OnBatch& on_batch) {
  const TuningTask& task = node.task;
  learn_from_bank(task);
  const Known known = context_.compile.strategies->find(task.key);
  const TaskVerdict verdict = search(task, known, limits, on_batch);
  std::string outcome = "nothing better";
  if (is_win(verdict)) {
    const auto kept = try_in_subgraphs(node, verdict, known, finalists);
    outcome = kept ? "kept" : "not kept: " + kept.error();
    if (kept) winners_.push_back(neighbour_of(task.task, verdict.strategies.front()));
  } else {
    commit(task, verdict, known);
    if (verdict.decision == Decision::kStopped) outcome = "stopped";
    if (verdict.decision == Decision::kFailed) outcome = "cannot be tuned: " + verdict.cause;
  }
  logger("tuner")->info(
      "made by a rewrite: op={} shape='{}' trials={} heuristic_us={:.2f} us={:.2f} {}",
      task.nodes.front(), task.shape_text(), verdict.measured, verdict.default_ns / 1e3,
      verdict.best_ns / 1e3, outcome);
  return verdict.measured;
}

void MadeNodeTuning::learn_from_bank(const TuningTask& task) {
  std::set<std::string> impls;
  for (const Candidate& candidate : task.heuristics)
    if (learnt_.emplace(candidate.impl->name()).second) impls.emplace(candidate.impl->name());
  if (impls.empty()) return;
  const bool is_first = impls.size() == learnt_.size();
  auto lessons = lessons_of(banks_.op.recent_records(CostModel::kMostLessons));
  std::erase_if(lessons, [&](const Lesson& lesson) { return !impls.contains(lesson.impl); });
  cost_model_.learn(std::move(lessons));
  if (!is_first) return;
  for (const bank::BankEntry& entry : banks_.op.entries())
    if (auto neighbour = neighbour_of(entry)) winners_.push_back(std::move(*neighbour));
}

TaskVerdict MadeNodeTuning::search(const TuningTask& task, const Known& known,
                                   const SearchLimits& limits, const OnBatch& on_batch) {
  const TuneOptions& options = context_.options;
  const TaskTuningContext context{.soc = options.soc,
                                  .policy = options.policy,
                                  .policy_text = context_.policy_text,
                                  .seed = options.seed,
                                  .weights_in = weights_in_,
                                  .cost_model = &cost_model_,
                                  .keep_records =
                                      [&](std::vector<bank::Record> more) {
                                        for (bank::Record& record : more)
                                          pending_.push_back({task.key, std::move(record)});
                                      },
                                  .on_batch = on_batch};
  TaskTuningInput input{
      .task = task,
      .neighbours = seeds_from_neighbours(task, winners_, options.soc, kNeighbourSeeds),
      .banked = known && known->has_winner() ? known : std::nullopt,
      .records = options.reload ? banks_.op.records(task.key) : std::vector<bank::Record>{},
      .limits = limits};
  std::ranges::move(near_the_heuristics(task, options.soc), std::back_inserter(input.neighbours));
  return tune_task(input, measurer_, context);
}

void MadeNodeTuning::commit(const TuningTask& task, const TaskVerdict& verdict,
                            const Known& known) {
  bank::Commit commit{.records = std::move(pending_)};
  pending_.clear();
  for (const bank::Record& record : verdict.race_records)
    commit.records.push_back({task.key, record});
  if (is_win(verdict) || verdict.decision == Decision::kUnsatisfied) {
    commit.unconfirmed_withdrawn.push_back(task.key);
    for (const bank::Strategy& strategy : verdict.strategies)
      commit.strategies.push_back({task.key, strategy, true, false});
    staged_[task.key.description] = {task.key, verdict.strategies, known.has_value()};
  }
  banks_.op.commit(std::move(commit));
}

void MadeNodeTuning::confirm(bool keeps) {
  bank::Commit commit;
  for (const auto& [description, staged] : staged_) {
    // Of what is new, another process may have won meanwhile: the faster one stays.
    (keeps && staged.replaces ? commit.withdrawn : commit.unconfirmed_withdrawn)
        .push_back(staged.key);
    if (!keeps) continue;
    for (const bank::Strategy& strategy : staged.strategies)
      commit.strategies.push_back({staged.key, strategy, staged.replaces});
  }
  staged_.clear();
  banks_.op.commit(std::move(commit));
}

void MadeNodeTuning::withdraw(const TuningTask& task) {
  staged_.erase(task.key.description);
  banks_.op.commit({.unconfirmed_withdrawn = {task.key}});
}

Result<void> MadeNodeTuning::try_in_subgraphs(const MadeNode& node, const TaskVerdict& verdict,
                                              const Known& known,
                                              std::vector<Finalist>& finalists) {
  std::map<std::size_t, std::vector<std::size_t>> trials_of;  // by finalist
  for (const PlanUse use : node.uses) trials_of[use.finalist].push_back(use.trial);
  std::vector<PlanRerun> reruns;
  for (const auto& [finalist, trials] : trials_of) {
    reruns.emplace_back(finalists[finalist], trials, context_, measurer_);
    if (auto prepared = reruns.back().prepare(); !prepared) {
      commit(node.task, {}, known);  // the records alone
      return prepared;
    }
  }
  commit(node.task, verdict, known);
  for (PlanRerun& rerun : reruns) {
    const auto raced = rerun.race();
    if (context_.options.stop.stop_requested()) return {};  // no judgement
    if (raced) continue;
    withdraw(node.task);
    return raced;
  }
  for (PlanRerun& rerun : reruns) banks_.graph.commit({.records = rerun.take_results()});
  return {};
}

}  // namespace aoe::tuner
