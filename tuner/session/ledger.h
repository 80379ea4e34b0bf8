// The ledger of a run: what was decided for each Tunable, what the bank was told of it, and how that is counted.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "tuner/session/conclusion.h"
#include "tuner/session/run.h"
#include "tuner/session/tuning_bank.h"
#include "tuner/tasks/tunable.h"

namespace aoe::tuner {

class Ledger {
 public:
  /// The bank and all Tunables stay with the caller.
  explicit Ledger(TuningBank& bank) : bank_(bank) {}

  /// Not searched, because the bank knows it: with a winner a hit, without one unsatisfied.
  void note_known(const Tunable& tunable, const std::optional<bank::StrategySet>& known);

  /// A limit came after so many trials of it, or before its turn: with a winner in the bank a hit, without one not decided.
  void note_undecided(const Tunable& tunable, const std::optional<bank::StrategySet>& known,
                      int trials);

  /// What an unfinished run has won and not confirmed: known, and confirmed or withdrawn with this run's.
  void adopt(const Tunable& tunable, const bank::StrategySet& unconfirmed);

  /// Searched; `before` is what the bank had. The bank has it all when this returns, unconfirmed.
  void settle(const Tunable& tunable, Conclusion conclusion,
              const std::optional<bank::StrategySet>& before);

  /// Measurements are gathered for some seconds, then committed together: a commit syncs the disk.
  void keep_records(const bank::TaskKey& key, std::vector<bank::Record> records);
  void flush();
  /// Until flush() what is settled is gathered as well: many at once cost one commit.
  void hold() { is_holding_ = true; }

  /// The model was measured: takes back what does not hold in it, by description, and confirms the rest. What the bank
  /// had before comes back; what this run has not won stays: others may profit from it. Of a demoted task of which nothing was won
  /// the default alone stays: in another Format it would be in the next compiled model what this one was slower by.
  void confirm(const std::set<std::string>& demoted);
  /// Takes back the same, and confirms what nothing was won of; the rest, and `waiting`, stays unconfirmed.
  void postpone(const std::set<std::string>& demoted, const std::set<std::string>& waiting);
  /// As if the run had not settled it.
  void withdraw(const Tunable& tunable);
  void withdraw_all();

  /// In the order in which they were settled.
  struct Entry {
    const Tunable* tunable = nullptr;
    Decision decision = Decision::kStopped;
    bool is_adopted = false;
    /// What the model is to have, the winner first; of a win its conclusion's. Empty: the default.
    std::vector<bank::Strategy> strategies;
    Conclusion conclusion;  ///< of what was searched, without strategies
  };
  const std::vector<Entry>& entries() const { return entries_; }
  RepoSummary summary() const;
  std::vector<TaskGain> gains() const;  ///< of wins, largest in the whole model first
  std::vector<TaskFate> fates() const;  ///< of all entries, the largest part of the model first
  std::set<std::string> won() const;    ///< descriptions, of what was adopted as well

 private:
  /// What the bank has unconfirmed.
  struct Staged {
    bank::TaskKey key;
    std::vector<bank::Strategy> strategies;
    bool replaces = false;  ///< the bank's confirmed ones; else the faster ones stay
  };

  void stage(const bank::TaskKey& key, const std::vector<bank::Strategy>& strategies,
             bool replaces);
  static void add_confirmed(const Staged& staged, bank::Commit& commit);
  bank::Commit demotions(const std::set<std::string>& descriptions);
  void demote(Entry& entry, bank::Commit& commit);
  void commit(bank::Commit commit);

  TuningBank& bank_;
  std::vector<Entry> entries_;
  std::map<std::string, Staged> staged_;  ///< by description
  bank::Commit pending_;
  bool is_holding_ = false;
  std::chrono::steady_clock::time_point last_commit_ = std::chrono::steady_clock::now();
};

}  // namespace aoe::tuner
