// Entries, commits and their reversal.
#include "tuner/session/ledger.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace aoe::tuner {
namespace {

constexpr auto kRecordCommitInterval = std::chrono::seconds(10);

/// Both may be taken back; what was merely found in the bank may not.
bool is_won_here(const Ledger::Entry& entry) {
  return is_win(entry.decision) || (entry.is_adopted && entry.decision == Decision::kReserved);
}

}  // namespace

std::string_view name(Decision decision) {
  switch (decision) {
    case Decision::kAdd:
      return "added";
    case Decision::kUpdate:
      return "updated";
    case Decision::kReserved:
      return "reserved";
    case Decision::kUnsatisfied:
      return "unsatisfied";
    case Decision::kFailed:
      return "failed";
    case Decision::kStopped:
      return "stopped";
    case Decision::kNotSearched:
      return "not searched";
    case Decision::kUndecided:
      return "undecided";
  }
  return "";
}

void Ledger::note_known(const Tunable& tunable, const std::optional<bank::StrategySet>& known) {
  const bool has_winner = known && known->has_winner();
  Entry& entry = entries_.emplace_back();
  entry.tunable = &tunable;
  entry.decision = has_winner ? Decision::kReserved : Decision::kUnsatisfied;
  if (has_winner) entry.strategies = known->strategies;
}

void Ledger::note_undecided(const Tunable& tunable, const std::optional<bank::StrategySet>& known,
                            int trials) {
  note_known(tunable, known);
  Entry& entry = entries_.back();
  entry.conclusion.measured = trials;
  if (entry.decision == Decision::kUnsatisfied)
    entry.decision = trials > 0 ? Decision::kUndecided : Decision::kNotSearched;
}

void Ledger::adopt(const Tunable& tunable, const bank::StrategySet& unconfirmed) {
  note_known(tunable, unconfirmed);
  entries_.back().is_adopted = true;
  bank_.adopt(tunable.key, unconfirmed);
  stage(tunable.key, unconfirmed.strategies, true);
}

void Ledger::settle(const Tunable& tunable, Conclusion conclusion,
                    const std::optional<bank::StrategySet>& before) {
  for (bank::Record& record : conclusion.race_records)
    pending_.records.push_back({tunable.key, std::move(record)});
  conclusion.race_records.clear();
  std::vector<bank::Strategy> strategies = std::move(conclusion.strategies);
  conclusion.strategies.clear();
  const Decision decision = conclusion.decision;
  bank::Commit now;
  if (is_win(decision) || decision == Decision::kUnsatisfied) {
    // Without `before`, another process may have won when this is confirmed: the faster one stays.
    stage(tunable.key, strategies, before.has_value());
    now.unconfirmed_withdrawn.push_back(tunable.key);
    for (const bank::Strategy& strategy : strategies)
      now.strategies.push_back(
          {.key = tunable.key, .strategy = strategy, .replace = true, .is_confirmed = false});
  }
  if (decision == Decision::kFailed)
    logger("tuner")->warn("op={} cannot be tuned: {}", tunable.first_node(), conclusion.cause);
  if (decision != Decision::kStopped) {
    if (!is_win(decision)) strategies.clear();
    if (decision == Decision::kReserved && before) strategies = before->strategies;
    entries_.push_back({&tunable, decision, false, std::move(strategies), std::move(conclusion)});
  }
  commit(std::move(now));
}

void Ledger::keep_records(const bank::TaskKey& key, std::vector<bank::Record> records) {
  for (bank::Record& record : records) pending_.records.push_back({key, std::move(record)});
  if (!is_holding_ && std::chrono::steady_clock::now() - last_commit_ > kRecordCommitInterval)
    flush();
}

void Ledger::flush() {
  is_holding_ = false;
  commit({});
}

void Ledger::stage(const bank::TaskKey& key, const std::vector<bank::Strategy>& strategies,
                   bool replaces) {
  staged_.insert_or_assign(key.description, Staged{key, strategies, replaces});
}

void Ledger::commit(bank::Commit now) {
  const auto gather = [](auto& gathered, auto& more) {
    std::ranges::move(more, std::back_inserter(gathered));
  };
  gather(pending_.records, now.records);
  gather(pending_.strategies, now.strategies);
  gather(pending_.withdrawn, now.withdrawn);
  gather(pending_.unconfirmed_withdrawn, now.unconfirmed_withdrawn);
  if (is_holding_) return;
  last_commit_ = std::chrono::steady_clock::now();
  bank_.commit(std::exchange(pending_, {}));
}

void Ledger::add_confirmed(const Staged& staged, bank::Commit& now) {
  (staged.replaces ? now.withdrawn : now.unconfirmed_withdrawn).push_back(staged.key);
  for (const bank::Strategy& strategy : staged.strategies)
    now.strategies.push_back({staged.key, strategy, staged.replaces});
}

bank::Commit Ledger::demotions(const std::set<std::string>& descriptions) {
  bank::Commit now;
  for (Entry& entry : entries_) {
    const auto staged = staged_.find(entry.tunable->key.description);
    if (!descriptions.contains(entry.tunable->key.description)) continue;
    if (is_won_here(entry))
      demote(entry, now);
    else if (staged != staged_.end())
      staged->second.strategies.resize(1);  // the default
  }
  return now;
}

void Ledger::postpone(const std::set<std::string>& demoted, const std::set<std::string>& waiting) {
  bank::Commit now = demotions(demoted);
  for (const Entry& entry : entries_)
    if (const auto staged = staged_.find(entry.tunable->key.description);
        staged != staged_.end() && !is_won_here(entry) && !waiting.contains(staged->first)) {
      add_confirmed(staged->second, now);
      staged_.erase(staged);
    }
  commit(std::move(now));
}

void Ledger::confirm(const std::set<std::string>& demoted) {
  bank::Commit now = demotions(demoted);
  for (const auto& [description, staged] : staged_) add_confirmed(staged, now);
  staged_.clear();
  commit(std::move(now));
}

/// What the bank has confirmed is still there: only what was won goes.
void Ledger::demote(Entry& entry, bank::Commit& now) {
  const Tunable& tunable = *entry.tunable;
  const bool had_winner =
      entry.is_adopted ? bank_.has_confirmed(tunable.key) : entry.decision == Decision::kUpdate;
  staged_.erase(tunable.key.description);
  now.unconfirmed_withdrawn.push_back(tunable.key);
  // That nothing beats the default is worth knowing, too.
  if (!had_winner)
    now.strategies.push_back(
        {tunable.key, tunable.default_strategy(entry.strategies.front()), true});
  entry.decision = had_winner ? Decision::kReserved : Decision::kUnsatisfied;
  entry.strategies.clear();
}

void Ledger::withdraw(const Tunable& tunable) {
  std::erase_if(entries_, [&](const Entry& each) { return each.tunable == &tunable; });
  staged_.erase(tunable.key.description);
  commit({.unconfirmed_withdrawn = {tunable.key}});
}

void Ledger::withdraw_all() {
  bank::Commit now;
  for (const auto& [description, staged] : staged_) now.unconfirmed_withdrawn.push_back(staged.key);
  entries_.clear();
  staged_.clear();
  commit(std::move(now));
}

RepoSummary Ledger::summary() const {
  const auto count = [this](std::initializer_list<Decision> decisions) {
    return static_cast<int>(std::ranges::count_if(entries_, [&](const Entry& entry) {
      return std::ranges::find(decisions, entry.decision) != decisions.end();
    }));
  };
  return {.add = count({Decision::kAdd}),
          .update = count({Decision::kUpdate}),
          .reserved = count({Decision::kReserved}),
          .unsatisfied = count({Decision::kUnsatisfied, Decision::kFailed}),
          .not_searched = count({Decision::kNotSearched, Decision::kUndecided})};
}

std::vector<TaskGain> Ledger::gains() const {
  std::vector<TaskGain> list;
  for (const Entry& entry : entries_) {
    if (!is_win(entry.decision)) continue;
    const Tunable& tunable = *entry.tunable;
    list.push_back({.repo_key = tunable.key.repo_key(),
                    .op_name = tunable.first_node(),
                    .op_type = tunable.type_text(),
                    .shape = tunable.shape_text(),
                    .count = tunable.places(),
                    .strategy = tunable.text_of(entry.strategies.front()),
                    .before_ns = entry.conclusion.default_ns,
                    .after_ns = entry.conclusion.best_ns,
                    .paired = entry.conclusion.paired});
  }
  std::ranges::stable_sort(list, std::ranges::greater{},
                           [](const TaskGain& g) { return g.count * (g.before_ns - g.after_ns); });
  return list;
}

std::vector<TaskFate> Ledger::fates() const {
  std::vector<TaskFate> list;
  for (const Entry& entry : entries_)
    list.push_back({.repo_key = entry.tunable->key.repo_key(),
                    .op_name = entry.tunable->first_node(),
                    .op_type = entry.tunable->type_text(),
                    .shape = entry.tunable->shape_text(),
                    .count = entry.tunable->places(),
                    .fate = std::string(name(entry.decision)),
                    .model_ns = entry.tunable->model_ns,
                    .default_ns = entry.conclusion.default_ns,
                    .best_ns = entry.conclusion.best_ns,
                    .trials = entry.conclusion.measured});
  std::ranges::stable_sort(list, std::ranges::greater{}, &TaskFate::model_ns);
  return list;
}

std::set<std::string> Ledger::won() const {
  std::set<std::string> descriptions;
  for (const Entry& entry : entries_)
    if (is_won_here(entry)) descriptions.insert(entry.tunable->key.description);
  return descriptions;
}

}  // namespace aoe::tuner
