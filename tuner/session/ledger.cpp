// Counters, commits and their reversal.
#include "tuner/session/ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/log.h"

namespace aoe::tuner {
namespace {

constexpr auto kRecordCommitInterval = std::chrono::seconds(10);

/// As it was in the race that `winner` won.
bank::Strategy default_of(const TuningTask& task, const bank::Measurement& winner) {
  bank::Strategy strategy = compiler::strategy_of(task.default_candidate);
  strategy.measured = winner;
  strategy.measured.time_ns = winner.default_time_ns;
  strategy.measured.verdict = "same";
  return strategy;
}

}  // namespace

void Ledger::note_known(const bank::StrategySet& known) {
  ++(known.has_winner() ? result_.summary.reserved : result_.summary.unsatisfied);
}

void Ledger::adopt(const TuningTask& task, const bank::StrategySet& unconfirmed) {
  note_known(unconfirmed);
  bank_.adopt(task.key, unconfirmed);
  staged_[task.key.description] = {task.key, unconfirmed.strategies, true};
  if (unconfirmed.has_winner())
    adopted_[task.key.description] = {&task, unconfirmed.strategies.front()};
}

void Ledger::note_not_searched(const std::optional<bank::StrategySet>& known) {
  note_known(known.value_or(bank::StrategySet{}));
}

bool Ledger::settle(const TuningTask& task, const TaskVerdict& verdict,
                    const std::optional<bank::StrategySet>& before) {
  bank::Commit now;
  bool is_decided = true;
  switch (verdict.decision) {
    case Decision::kStopped:
      is_decided = false;
      break;
    case Decision::kFailed:
      ++result_.summary.unsatisfied;
      result_.failed_operators.insert(result_.failed_operators.end(), task.nodes.begin(),
                                      task.nodes.end());
      logger("tuner")->warn("op={} cannot be tuned: {}", task.nodes.front(), verdict.cause);
      break;
    case Decision::kReserved:
      ++result_.summary.reserved;
      break;
    case Decision::kUnsatisfied:
      ++result_.summary.unsatisfied;
      break;
    case Decision::kAdd:
    case Decision::kUpdate:
      ++(verdict.decision == Decision::kUpdate ? result_.summary.update : result_.summary.add);
      for (const std::string& node : task.nodes)
        result_.modified.push_back({node, task.op_types, verdict.gains});
      wins_[task.key.description] = {&task, verdict};
      break;
  }
  for (const bank::Record& record : verdict.race_records) pending_.push_back({task.key, record});
  const bool is_news = verdict.decision == Decision::kAdd ||
                       verdict.decision == Decision::kUpdate ||
                       verdict.decision == Decision::kUnsatisfied;
  if (is_news) {
    // Without `before`, another process may have won when this is confirmed: the faster one stays.
    staged_[task.key.description] = {task.key, verdict.strategies, before.has_value()};
    now.unconfirmed_withdrawn.push_back(task.key);
    for (const bank::Strategy& strategy : verdict.strategies)
      now.strategies.push_back(
          {.key = task.key, .strategy = strategy, .replace = true, .is_confirmed = false});
  }
  commit(std::move(now));
  return is_decided;
}

void Ledger::keep_records(const bank::TaskKey& key, std::vector<bank::Record> records) {
  for (bank::Record& record : records) pending_.push_back({key, std::move(record)});
  if (std::chrono::steady_clock::now() - last_commit_ > kRecordCommitInterval) flush();
}

void Ledger::flush() {
  commit({});
}

void Ledger::commit(bank::Commit now) {
  now.records = std::move(pending_);
  pending_.clear();
  last_commit_ = std::chrono::steady_clock::now();
  bank_.commit(std::move(now));
}

void Ledger::confirm(const std::set<std::string>& demoted) {
  bank::Commit now;
  for (const std::string& description : demoted) demote(description, now);
  for (const auto& [description, staged] : staged_) {
    (staged.replaces ? now.withdrawn : now.unconfirmed_withdrawn).push_back(staged.key);
    for (const bank::Strategy& strategy : staged.strategies)
      now.strategies.push_back({staged.key, strategy, staged.replaces});
  }
  staged_.clear();
  commit(std::move(now));
}

/// What the bank has confirmed is still there: only what was won goes.
void Ledger::demote(const std::string& description, bank::Commit& now) {
  bool had_winner = false;
  bank::Strategy by_default;
  const TuningTask* task = nullptr;
  if (const auto win = wins_.find(description); win != wins_.end()) {
    const TaskVerdict& verdict = win->second.verdict;
    task = win->second.task;
    had_winner = verdict.decision == Decision::kUpdate;
    --(had_winner ? result_.summary.update : result_.summary.add);
    AOE_CHECK(verdict.by_default.has_value(), "a win without its race");
    by_default = *verdict.by_default;
    const std::set<std::string> nodes(task->nodes.begin(), task->nodes.end());
    std::erase_if(result_.modified,
                  [&](const ModifiedOperator& op) { return nodes.contains(op.op_name); });
    wins_.erase(win);
  } else if (const auto adopted = adopted_.find(description); adopted != adopted_.end()) {
    task = adopted->second.task;
    had_winner = bank_.has_confirmed(task->key);
    --result_.summary.reserved;
    by_default = default_of(*task, adopted->second.winner.measured);
    adopted_.erase(adopted);
  } else {
    return;  // not won by this run: others may profit from it
  }
  ++(had_winner ? result_.summary.reserved : result_.summary.unsatisfied);
  staged_.erase(description);
  now.unconfirmed_withdrawn.push_back(task->key);
  // That nothing beats the default is worth knowing, too.
  if (!had_winner) now.strategies.push_back({task->key, by_default, true});
}

std::vector<TaskGain> Ledger::gains() const {
  std::vector<TaskGain> list;
  for (const auto& [description, win] : wins_) {
    const compiler::Candidate& winner = *win.verdict.winner;
    list.push_back({.op_name = win.task->nodes.front(),
                    .op_type = win.task->type_text(),
                    .shape = win.task->shape_text(),
                    .count = static_cast<int>(win.task->nodes.size()),
                    .strategy = fmt::format("{} {}", winner.impl->name(), winner.format.name),
                    .before_ns = win.verdict.default_ns,
                    .after_ns = win.verdict.best_ns});
  }
  std::ranges::stable_sort(list, std::ranges::greater{},
                           [](const TaskGain& g) { return g.count * (g.before_ns - g.after_ns); });
  return list;
}

std::set<std::string> Ledger::won() const {
  std::set<std::string> descriptions;
  for (const auto& [description, win] : wins_) descriptions.insert(description);
  for (const auto& [description, adopted] : adopted_) descriptions.insert(description);
  return descriptions;
}

}  // namespace aoe::tuner
