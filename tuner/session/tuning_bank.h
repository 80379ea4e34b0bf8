// The bank as a tuning run sees and fills it.
//
// What the run wins is in the bank at once, but not confirmed: others do not compile with it before
// the whole model was measured. The run itself finds its own strategies first. When the bank fails
// in the middle, nothing of the run is lost: what could not be committed is kept here, tried again
// from time to time, and written to a file that `aoe_bank import` takes.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "bank/location.h"
#include "tuner/session/run.h"

namespace aoe::tuner {

class TuningBank final : public bank::StrategySource {
 public:
  /// `bank` stays with the caller. The file with what could not be committed stands beside
  /// `result_path`.
  TuningBank(bank::KnowledgeBank& bank, bank::BankKind kind,
             const std::filesystem::path& result_path);

  /// This run's strategies; else confirmed ones of the bank. A bank that cannot be read is a miss.
  std::optional<bank::StrategySet> find(const bank::TaskKey& key) const override;
  std::string description() const override { return bank_.description(); }
  std::optional<bank::Roofs> roofs() const override;

  /// This run's alone.
  std::optional<bank::StrategySet> find_own(const bank::TaskKey& key) const;
  /// What another run has left unconfirmed.
  std::optional<bank::StrategySet> find_unconfirmed(const bank::TaskKey& key) const;
  bool has_confirmed(const bank::TaskKey& key) const;
  /// From now on find() has these for the task; the bank has them already.
  void adopt(const bank::TaskKey& key, bank::StrategySet set);

  std::vector<bank::BankEntry> entries() const { return bank_.entries(); }
  std::vector<bank::Record> records(const bank::TaskKey& key) const;
  std::vector<bank::Record> recent_records(std::size_t most) const {
    return bank_.recent_records(most);
  }

  /// Throws no Error(kBank). Error(kOutput): neither the bank nor the file takes it.
  void commit(bank::Commit commit);
  /// Tries once more. What is in the file then, and why; nullopt: the bank has it all.
  std::optional<RescuedBank> finish();

 private:
  bool try_commit();
  void note(const bank::Commit& commit);

  bank::KnowledgeBank& bank_;
  const bank::BankKind kind_;
  const std::filesystem::path file_;
  std::map<std::string, bank::StrategySet> own_;  ///< by description
  std::vector<bank::Commit> backlog_;
  std::string failure_;  ///< of the last try; empty: none
  std::chrono::steady_clock::time_point failed_at_;
};

/// What a run has won over what it began with, under the latter's description.
class OwnFirst final : public bank::StrategySource {
 public:
  OwnFirst(const TuningBank& own, const bank::StrategySource& others)
      : own_(own), others_(others) {}
  std::optional<bank::StrategySet> find(const bank::TaskKey& key) const override {
    auto found = own_.find_own(key);
    return found ? found : others_.find(key);
  }
  std::string description() const override { return others_.description(); }
  std::optional<bank::Roofs> roofs() const override { return others_.roofs(); }

 private:
  const TuningBank& own_;
  const bank::StrategySource& others_;
};

}  // namespace aoe::tuner
