// Decides, commits and counts.
#include "tuner/session/subgraph_ledger.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace aoe::tuner {
namespace {

/// That nothing beats the subgraph as it is, is knowledge, too: the empty plan says so.
bank::Strategy as_it_is(bank::Strategy strategy) {
  strategy.rewrite = graph::to_json(graph::RewritePlan{}).dump();
  strategy.measured.time_ns = strategy.measured.default_time_ns;
  strategy.measured.verdict = "same";
  return strategy;
}

}  // namespace

void SubgraphLedger::note_not_searched(const SubgraphTask& task,
                                       const std::optional<KnownPlan>& known) {
  if (!known || !known->has_winner()) {
    ++section_.summary.unsatisfied;
    return;
  }
  ++section_.summary.reserved;
  plans_.push_back({&task, known->plan});
}

void SubgraphLedger::adopt(const SubgraphTask& task, const KnownPlan& unconfirmed) {
  ++section_.summary.reserved;
  plans_.push_back({&task, unconfirmed.plan});
  bank_.adopt(task.key, unconfirmed.set);
  adopted_[task.key.description] = {&task, unconfirmed.set.strategies.front()};
}

void SubgraphLedger::settle(const SubgraphTask& task, const std::optional<KnownPlan>& known,
                            const std::optional<PlanFinal>& final, std::size_t trials,
                            const PlanBenchContext& context) {
  const bool had_winner = known && known->has_winner();
  PlanTrial best;
  if (final)
    best = {
        .plan = final->plan, .ok = true, .time_ns = final->time_ns, .before_ns = final->before_ns};
  bank::Strategy strategy = strategy_of(best, context);
  strategy.measured.trials = static_cast<std::int64_t>(trials);
  bool wins = final && final->against_before.verdict == "faster";
  if (wins && had_winner) wins = final->against_known && final->against_known->verdict == "faster";
  if (!wins) {
    ++(had_winner ? section_.summary.reserved : section_.summary.unsatisfied);
    if (had_winner)
      plans_.push_back({&task, known->plan});
    else
      bank_.commit({.strategies = {{task.key, as_it_is(std::move(strategy)), true}}});
    return;
  }
  strategy.measured.verdict = "faster";
  bank_.commit(
      {.strategies = {{task.key, strategy, true, false}}, .unconfirmed_withdrawn = {task.key}});
  ++(had_winner ? section_.summary.update : section_.summary.add);
  section_.modified.push_back({.repo_key = task.key.repo_key(),
                               .before_ms = best.before_ns / 1e6,
                               .after_ms = best.time_ns / 1e6,
                               .is_update = had_winner,
                               .rewrites = graph::to_text(best.plan)});
  plans_.push_back({&task, best.plan});
  wins_[task.key.description] = {&task, std::move(best), std::move(strategy), had_winner};
}

void SubgraphLedger::confirm(const std::set<std::string>& demoted) {
  bank::Commit commit;
  for (const std::string& description : demoted) demote(description, commit);
  const auto keep = [&](const bank::TaskKey& key, const bank::Strategy& strategy) {
    commit.withdrawn.push_back(key);
    commit.strategies.push_back({key, strategy, true});
  };
  for (const auto& [description, win] : wins_) keep(win.task->key, win.strategy);
  for (const auto& [description, adopted] : adopted_) keep(adopted.task->key, adopted.strategy);
  bank_.commit(std::move(commit));
}

/// What the bank has confirmed is still there: only what was won goes.
void SubgraphLedger::demote(const std::string& description, bank::Commit& commit) {
  const SubgraphTask* task = nullptr;
  bank::Strategy strategy;
  bool had_winner = false;
  if (const auto win = wins_.find(description); win != wins_.end()) {
    task = win->second.task;
    strategy = win->second.strategy;
    had_winner = win->second.had_winner;
    --(had_winner ? section_.summary.update : section_.summary.add);
    std::erase_if(section_.modified, [&](const ModifiedSubgraph& each) {
      return each.repo_key == task->key.repo_key();
    });
    wins_.erase(win);
  } else if (const auto adopted = adopted_.find(description); adopted != adopted_.end()) {
    task = adopted->second.task;
    strategy = adopted->second.strategy;
    had_winner = bank_.has_confirmed(task->key);
    --section_.summary.reserved;
    adopted_.erase(adopted);
  } else {
    return;  // not won by this run: others may profit from it
  }
  ++(had_winner ? section_.summary.reserved : section_.summary.unsatisfied);
  commit.unconfirmed_withdrawn.push_back(task->key);
  if (!had_winner) commit.strategies.push_back({task->key, as_it_is(std::move(strategy)), true});
}

std::set<std::string> SubgraphLedger::won() const {
  std::set<std::string> descriptions;
  for (const auto& [description, win] : wins_) descriptions.insert(description);
  for (const auto& [description, adopted] : adopted_) descriptions.insert(description);
  return descriptions;
}

std::vector<TaskGain> SubgraphLedger::gains() const {
  std::vector<TaskGain> gains;
  for (const auto& [description, win] : wins_)
    gains.push_back({.op_name = win.task->nodes.front().front(),
                     .op_type = win.task->type_text,
                     .count = static_cast<int>(win.task->instances.size()),
                     .strategy = graph::to_text(win.trial.plan),
                     .before_ns = win.trial.before_ns,
                     .after_ns = win.trial.time_ns});
  std::ranges::stable_sort(gains, std::ranges::greater{}, [](const TaskGain& gain) {
    return gain.count * (gain.before_ns - gain.after_ns);
  });
  return gains;
}

}  // namespace aoe::tuner
