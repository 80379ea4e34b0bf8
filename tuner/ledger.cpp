// Counters, commits and their reversal.
#include "tuner/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/check.h"
#include "base/log.h"

namespace aoe::tuner {
namespace {

constexpr auto kRecordCommitInterval = std::chrono::seconds(10);

void replace_set(bank::Commit& commit, const bank::TaskKey& key,
                 const std::vector<bank::Strategy>& strategies) {
  commit.withdrawn.push_back(key);
  for (const bank::Strategy& strategy : strategies)
    commit.strategies.push_back({key, strategy, true});
}

}  // namespace

void Ledger::note_known(const bank::StrategySet& known) {
  ++(known.has_winner() ? result_.summary.reserved : result_.summary.unsatisfied);
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
      wins_[task.key.description] = {&task, verdict, before};
      break;
  }
  for (const bank::Record& record : verdict.race_records) pending_.push_back({task.key, record});
  const bool is_news = verdict.decision == Decision::kAdd ||
                       verdict.decision == Decision::kUpdate ||
                       verdict.decision == Decision::kUnsatisfied;
  if (is_news && before)
    replace_set(now, task.key, verdict.strategies);
  else if (is_news)  // another process may have won meanwhile: the faster one stays
    for (const bank::Strategy& strategy : verdict.strategies)
      now.strategies.push_back({task.key, strategy, false});
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
  if (!now.strategies.empty() || !now.records.empty() || !now.withdrawn.empty()) bank_.commit(now);
}

void Ledger::demote(const std::set<std::string>& descriptions) {
  bank::Commit now;
  for (const std::string& description : descriptions) {
    const auto found = wins_.find(description);
    if (found == wins_.end()) continue;  // not won by this run: others may profit from it
    const Win& win = found->second;
    const bool is_update = win.verdict.decision == Decision::kUpdate;
    --(is_update ? result_.summary.update : result_.summary.add);
    ++(is_update ? result_.summary.reserved : result_.summary.unsatisfied);
    AOE_CHECK(win.verdict.by_default && (!is_update || win.before), "a win without its race");
    replace_set(now, win.task->key,
                is_update ? win.before->strategies : std::vector{*win.verdict.by_default});
    const std::set<std::string> nodes(win.task->nodes.begin(), win.task->nodes.end());
    std::erase_if(result_.modified,
                  [&](const ModifiedOperator& op) { return nodes.contains(op.op_name); });
    wins_.erase(found);
  }
  commit(std::move(now));
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
  const auto descriptions = std::views::keys(wins_);
  return {descriptions.begin(), descriptions.end()};
}

}  // namespace aoe::tuner
