// KnowledgeBank: the strategies and measurement records of one kind (op or graph) and one
// soc_version, in RocksDB.
//
//   KnowledgeBank bank(custom_bank_location(BankKind::kOp, soc, env).directory, {.soc_version =
//   soc}); if (auto set = bank.find(key)) use(set->strategies.front()); bank.commit({.strategies =
//   {{key, strategy}}, .records = {...}});
//
// Directory:
//   BANK               marker: what this is, its layout, its soc_version
//   lock               held (flock) only while a commit runs; names its holder
//   snapshot-<n>/      whole RocksDB databases, published by rename and never changed; readers open
//                      the newest and never wait. SEAL in each of them lists its files.
//   *.tmp              a commit that runs, or that died
// The newest snapshot is the bank: a commit copies it (hard links), adds, and publishes the copy.
// Column families: `strategy` (digest -> strategies), `record` (digest + sequence -> measurement),
// `meta` (schema). Values: encoding.h.
//
// A bank that is not there yet is empty; its directory is made by the first commit. Many processes
// may read and commit at once; a commit is atomic: all of it is on disk when it returns, or none.
// Reading needs no write permission. A damaged snapshot is passed over with a warning that names the
// one that is used instead. Thread-safe. Errors: Error(kBank) with the directory: not a bank, no
// whole snapshot, written by a newer version, locked for longer than lock_wait, no permission.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bank/strategy.h"

namespace aoe::bank {

class RocksStore;     // rocks_store.h
struct FilledTables;  // bank_state.h
struct Write;

/// One measured candidate, winner or not. `status` is "ok" or why there is no time ("crashed",
/// "wrong_result", ...).
struct Record {
  Strategy strategy;
  std::string status = "ok";
  std::string detail;  ///< cause in words when not ok
  std::uint64_t seed = 0;
  /// What a cost model needs to know of it, so that it learns without the task: names and values.
  /// Empty: nothing to be learnt from it.
  std::vector<std::pair<std::string, double>> features = {};
};

/// What records are kept under: they outlive the description.
struct TaskDigest {
  Digest128 digest;
  TaskDigest(const TaskKey& key) : digest(key.digest()) {}  // NOLINT: a key says more
  explicit TaskDigest(const Digest128& task) : digest(task) {}
};

struct NewStrategy {
  TaskKey key;
  Strategy strategy;  ///< takes the place of the task's strategy of the same Format
  /// Set when the new one beat the stored one side by side. Without it a stored strategy that is
  /// valid (same Impl version) and at least as fast stays: another process may have won meanwhile.
  bool replace = false;
  /// Not yet: won alone, but no model has shown that it holds there.
  bool is_confirmed = true;
};

struct NewRecord {
  TaskDigest task;
  Record record;
};

struct Commit {
  std::vector<NewStrategy> strategies;
  std::vector<NewRecord> records;
  /// Tasks that lose all their strategies, before those above are added. Their records stay.
  std::vector<TaskKey> withdrawn = {};
  /// Tasks that lose what is not confirmed, before those above are added.
  std::vector<TaskKey> unconfirmed_withdrawn = {};
  std::optional<Roofs> roofs = {};  ///< of the machine, in place of what is there

  bool is_empty() const {
    return strategies.empty() && records.empty() && withdrawn.empty() &&
           unconfirmed_withdrawn.empty() && !roofs;
  }
};

/// What a bank shall forget. Functions may be empty: nothing of the kind.
struct Removal {
  std::function<bool(const TaskKey& key, const Strategy& strategy)> strategies;
  std::function<bool(const NewRecord& record)> records;
};
struct RemovedCount {
  std::size_t strategies = 0, records = 0;
};

enum class CommitOutcome { kAdded, kUpdated, kKept };

/// Puts `added` into `set`, which stays sorted, fastest first.
CommitOutcome merge(StrategySet& set, const NewStrategy& added);

struct BankEntry {
  TaskKey key;
  StrategySet set;  ///< what find() serves
  /// What an unfinished tuning run has won; nobody compiles with it but a run that confirms it in a
  /// model, or withdraws it.
  StrategySet unconfirmed = {};
  bool is_empty() const { return set.strategies.empty() && unconfirmed.strategies.empty(); }
};

struct BankOptions {
  std::string soc_version;  ///< entries of other hardware are never served
  bool read_only = false;   ///< commit() is an error: the built-in bank
  std::chrono::milliseconds lock_wait{30000};
};

class KnowledgeBank final : public StrategySource {
 public:
  KnowledgeBank(std::filesystem::path directory, BankOptions options);
  ~KnowledgeBank() override;

  std::optional<StrategySet> find(const TaskKey& key) const override;
  std::string description() const override;
  std::optional<Roofs> roofs() const override;
  const std::string& soc_version() const;

  /// Whether there has been no commit yet.
  bool is_empty() const override;
  /// What waits for a model that confirms it; nullopt: nothing.
  std::optional<StrategySet> find_unconfirmed(const TaskKey& key) const;
  /// All entries, those with unconfirmed strategies alone included, in the order of their digests.
  std::vector<BankEntry> entries() const;
  /// Each entry that has confirmed strategies, in the same order; the bank may be larger than memory.
  void visit(const std::function<void(const BankEntry&)>& take) const;
  /// All measurements of one task, oldest first.
  std::vector<Record> records(const TaskDigest& task) const;
  /// All measurements of all tasks, oldest first.
  std::vector<NewRecord> all_records() const;
  std::size_t record_count() const;
  /// Measurements of all tasks: the last `most` that were committed, task by task.
  std::vector<Record> recent_records(std::size_t most) const;

  /// One outcome per element of `commit.strategies`, in order. Readers opened before see it after
  /// refresh().
  std::vector<CommitOutcome> commit(const Commit& commit);
  /// The first commit: of tables that `write` makes in the directory that it is given, and of so many records.
  /// Error(kBank): the bank is not empty.
  void fill(const std::function<FilledTables(const std::filesystem::path& directory)>& write);
  /// A commit as well. What was removed takes no room in the new snapshot; the older ones still have it.
  RemovedCount remove(const Removal& removal);
  /// A commit that changes nothing but the room that the bank takes.
  void compact();
  /// Adds the bank to the backups in `backups`, by RocksDB's BackupEngine.
  void back_up(const std::filesystem::path& backups) const;
  /// A commit: the newest of the backups takes the place of all that is there.
  void restore(const std::filesystem::path& backups);
  /// Does what a commit does, but changes nothing that a reader sees: Error(kBank) now instead of
  /// after hours of work. Makes the directory.
  void require_writable();
  /// Turns to the newest whole snapshot.
  void refresh();

  const std::filesystem::path& directory() const;

 private:
  struct State;
  class Turn;
  std::vector<Write> batch_of(const Commit& commit, const RocksStore& store,
                              std::vector<CommitOutcome>& outcomes) const;
  std::unique_ptr<State> state_;
};

/// Custom over built-in: the first source that knows a task answers. Does not own its sources.
class LayeredSource final : public StrategySource {
 public:
  explicit LayeredSource(std::vector<const StrategySource*> sources)
      : sources_(std::move(sources)) {}
  std::optional<StrategySet> find(const TaskKey& key) const override;
  std::string description() const override;
  bool is_empty() const override;
  std::optional<Roofs> roofs() const override;

 private:
  std::vector<const StrategySource*> sources_;
};

}  // namespace aoe::bank
