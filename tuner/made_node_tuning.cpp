// Search, commit, and the race of the plans with what was found.
#include "tuner/made_node_tuning.h"

#include <algorithm>
#include <limits>

#include "base/log.h"

namespace aoe::tuner {
namespace {

constexpr std::size_t kNeighbourSeeds = 3;
/// Races of a subgraph repeat within some percent.
constexpr double kClearlySlower = 1.03;

bool is_win(const TaskVerdict& verdict) {
  return verdict.decision == Decision::kAdd || verdict.decision == Decision::kUpdate;
}

}  // namespace

int MadeNodeTuning::tune(const MadeNode& node, std::vector<Finalist>& finalists,
                         const SearchLimits& limits, const OnBatch& on_batch) {
  const TuningTask& task = node.task;
  learn_from_bank(task);
  const auto known = context_.compile.strategies->find(task.key);
  const TaskVerdict verdict = search(task, known, limits, on_batch);
  commit(task, verdict, known);
  if (verdict.decision == Decision::kFailed)
    logger("tuner")->warn("op={} that a rewrite makes cannot be tuned: {}", task.nodes.front(),
                          verdict.cause);
  bool is_kept = is_win(verdict);
  if (is_kept && !race_again(node, finalists)) {
    withdraw(task, known);
    is_kept = false;
  }
  if (is_kept && verdict.winner)
    winners_.push_back(neighbour_of(task.task, compiler::strategy_of(*verdict.winner)));
  logger("tuner")->info(
      "op={} of {} that a rewrite makes: us={:.2f} heuristic_us={:.2f} trials={} {}",
      task.nodes.front(), task.type_text(), verdict.best_ns / 1e3, verdict.default_ns / 1e3,
      verdict.measured, is_kept ? "kept" : "nothing better");
  return verdict.measured;
}

void MadeNodeTuning::learn_from_bank(const TuningTask& task) {
  std::set<std::string> impls;
  for (const compiler::Candidate& candidate : task.heuristics)
    if (learnt_.emplace(candidate.impl->name()).second) impls.emplace(candidate.impl->name());
  const bool is_first = impls.size() == learnt_.size();
  if (impls.empty()) return;
  auto lessons = lessons_of(banks_.op.recent_records(CostModel::kMostLessons));
  std::erase_if(lessons, [&](const Lesson& lesson) { return !impls.contains(lesson.impl); });
  cost_model_.learn(std::move(lessons));
  if (!is_first) return;
  for (const bank::BankEntry& entry : banks_.op.entries())
    if (auto neighbour = neighbour_of(entry)) winners_.push_back(std::move(*neighbour));
}

TaskVerdict MadeNodeTuning::search(const TuningTask& task,
                                   const std::optional<bank::StrategySet>& known,
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
  const TaskTuningInput input{
      .task = task,
      .neighbours = seeds_from_neighbours(task, winners_, options.soc, kNeighbourSeeds),
      .banked = known && known->has_winner() ? known : std::nullopt,
      .records = options.reload ? banks_.op.records(task.key) : std::vector<bank::Record>{},
      .limits = limits};
  return tune_task(input, measurer_, context);
}

void MadeNodeTuning::commit(const TuningTask& task, const TaskVerdict& verdict,
                            const std::optional<bank::StrategySet>& known) {
  bank::Commit commit{.records = std::move(pending_)};
  pending_.clear();
  for (const bank::Record& record : verdict.race_records)
    commit.records.push_back({task.key, record});
  if (is_win(verdict) || verdict.decision == Decision::kUnsatisfied) {
    // Without a known one, another process may have won meanwhile: the faster one stays.
    if (known) commit.withdrawn.push_back(task.key);
    for (const bank::Strategy& strategy : verdict.strategies)
      commit.strategies.push_back({task.key, strategy, known.has_value()});
  }
  if (!commit.records.empty() || !commit.strategies.empty()) banks_.op.commit(commit);
}

void MadeNodeTuning::withdraw(const TuningTask& task,
                              const std::optional<bank::StrategySet>& known) {
  bank::Commit commit{.withdrawn = {task.key}};
  if (known)
    for (const bank::Strategy& strategy : known->strategies)
      commit.strategies.push_back({task.key, strategy, true});
  banks_.op.commit(commit);
}

bool MadeNodeTuning::race_again(const MadeNode& node, std::vector<Finalist>& finalists) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double before = kInfinity, after = kInfinity;
  std::vector<Again> results;
  std::vector<bank::NewRecord> records;
  for (std::size_t f = 0; f < finalists.size(); ++f) {
    const auto is_here = [&](PlanUse use) { return use.finalist == f; };
    if (std::ranges::none_of(node.uses, is_here)) continue;
    PlanBench bench(*finalists[f].task, context_, measurer_, {});
    if (!bench.prepare()) return false;
    for (const PlanUse use : node.uses) {
      if (!is_here(use)) continue;
      const PlanTrial& old = finalists[f].trials[use.trial];
      results.push_back({use, bench.measure(old.plan)});
      if (context_.options.stop.stop_requested()) return true;  // no judgement
      if (!results.back().trial.ok) return false;
      before = std::min(before, old.ratio());
      after = std::min(after, results.back().trial.ratio());
    }
    std::ranges::move(bench.take_records(), std::back_inserter(records));
  }
  logger("tuner")->info(
      "op={} in its subgraph: {:.3f} of the time without the rewrite, {:.3f} before",
      node.task.nodes.front(), after, before);
  if (after > before * kClearlySlower) return false;
  for (Again& each : results)
    finalists[each.use.finalist].trials[each.use.trial] = std::move(each.trial);
  banks_.graph.commit({.records = std::move(records)});
  return true;
}

}  // namespace aoe::tuner
