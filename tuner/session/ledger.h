// The ledger of a run: what was decided for each task, what the bank was told of it, and how the result file counts it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "tuner/result/aoe_result.h"
#include "tuner/session/run.h"
#include "tuner/session/task_tuning.h"
#include "tuner/session/tuning_bank.h"

namespace aoe::tuner {

class Ledger {
 public:
  /// Counts into `result`; both stay with the caller.
  Ledger(TuningBank& bank, AoeResult& result) : bank_(bank), result_(result) {}

  /// A task that was not searched because the bank knows it: with a winner a hit, without one unsatisfied.
  void note_known(const bank::StrategySet& known);

  /// A task that an unfinished run has won and not confirmed: known, and confirmed or withdrawn with this run's.
  void adopt(const TuningTask& task, const bank::StrategySet& unconfirmed);

  /// A task whose turn did not come before the time or the trials were used up: as the bank has it, or without a strategy.
  void note_not_searched(const std::optional<bank::StrategySet>& known);

  /// A searched task; `before` is what the bank had. The bank has it all when this returns, unconfirmed. False when there
  /// was no decision.
  bool settle(const TuningTask& task, const TaskVerdict& verdict,
              const std::optional<bank::StrategySet>& before);

  /// Measurements are gathered for some seconds, then committed together: a commit syncs the disk.
  void keep_records(const bank::TaskKey& key, std::vector<bank::Record> records);
  void flush();

  /// The model was measured: takes back what does not hold in it, and confirms the rest. What the bank had before comes
  /// back.
  void confirm(const std::set<std::string>& demoted);

  /// Winners of this run, largest gain in the whole model first.
  std::vector<TaskGain> gains() const;
  std::set<std::string> won() const;  ///< descriptions, of what was adopted as well

 private:
  /// What the bank has of a task unconfirmed.
  struct Staged {
    bank::TaskKey key;
    std::vector<bank::Strategy> strategies;
    bool replaces = false;  ///< the bank's confirmed ones; else the faster ones stay
  };
  struct Win {
    const TuningTask* task;
    TaskVerdict verdict;
  };
  struct Adopted {
    const TuningTask* task;
    bank::Strategy winner;
  };

  void demote(const std::string& description, bank::Commit& commit);

  void commit(bank::Commit commit);

  TuningBank& bank_;
  AoeResult& result_;
  std::map<std::string, Staged> staged_;  ///< this and what follows: by description
  std::map<std::string, Win> wins_;
  std::map<std::string, Adopted> adopted_;
  std::vector<bank::NewRecord> pending_;
  std::chrono::steady_clock::time_point last_commit_ = std::chrono::steady_clock::now();
};

}  // namespace aoe::tuner
