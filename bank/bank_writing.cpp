// The bank's writing side: copy, write, seal, publish.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "bank/bank_state.h"
#include "bank/file_lock.h"
#include "bank/marker.h"
#include "bank/snapshots.h"
#include "bank/values.h"
#include "base/check.h"
#include "base/file.h"
#include "base/json_text.h"

namespace aoe::bank {
namespace fs = std::filesystem;
namespace {

/// Each new directory is there after a power loss, too.
void make_directories(const fs::path& directory) {
  if (directory.empty() || fs::is_directory(directory)) return;
  make_directories(directory.parent_path());
  fs::create_directory(directory);
  sync_path(directory.has_parent_path() ? directory.parent_path() : ".");
}

/// Takes out of a set what the removal says. How many.
std::size_t remove_from(StrategySet& set, const TaskKey& key, const Removal& removal) {
  return std::erase_if(set.strategies,
                       [&](const Strategy& strategy) { return removal.strategies(key, strategy); });
}

std::vector<Write> removal_batch(const Removal& removal, const RocksStore& store,
                                 const fs::path& directory, RemovedCount& removed) {
  std::vector<Write> batch;
  const auto visit_entry = [&](std::string_view key, std::string_view value) {
    auto entry = entry_from(value, directory);
    if (!entry) return true;
    const std::size_t count = remove_from(entry->set, entry->key, removal) +
                              remove_from(entry->unconfirmed, entry->key, removal);
    removed.strategies += count;
    if (count == 0) return true;
    Write write{Family::kStrategy, std::string(key), std::nullopt};
    if (!entry->is_empty()) write.value = encode(*entry);
    batch.push_back(std::move(write));
    return true;
  };
  const auto visit_record = [&](std::string_view key, std::string_view value) {
    auto record = record_from(value, directory);
    if (!record || !removal.records({task_of(key), std::move(*record)})) return true;
    ++removed.records;
    batch.push_back({Family::kRecord, std::string(key), std::nullopt});
    return true;
  };
  if (removal.strategies) store.scan(Family::kStrategy, "", visit_entry);
  if (removal.records) store.scan(Family::kRecord, "", visit_record);
  return batch;
}

}  // namespace

CommitOutcome merge(StrategySet& set, const NewStrategy& added) {
  const auto stored = std::ranges::find(set.strategies, added.strategy.format, &Strategy::format);
  CommitOutcome outcome = CommitOutcome::kAdded;
  if (stored != set.strategies.end()) {
    const bool valid =
        stored->impl_version == added.strategy.impl_version || stored->impl != added.strategy.impl;
    if (!added.replace && valid && stored->measured.time_ns <= added.strategy.measured.time_ns)
      return CommitOutcome::kKept;
    *stored = added.strategy;
    outcome = CommitOutcome::kUpdated;
  } else {
    if (!set.strategies.empty()) outcome = CommitOutcome::kUpdated;
    set.strategies.push_back(added.strategy);
  }
  std::ranges::stable_sort(set.strategies, {},
                           [](const Strategy& s) { return s.measured.time_ns; });
  return outcome;
}

/// One writer's turn: the bank is locked, a copy of what is there is open for writing. A turn that fails leaves no copy: on a full disk
/// it would take what is left.
class KnowledgeBank::Turn {
 public:
  Turn(const fs::path& directory, const BankOptions& options)
      : directory_(directory), lock_(lock(directory, options)) {
    marker_ = read_marker(directory, options.soc_version);
    if (!marker_) write_marker(directory, {.soc_version = options.soc_version, .is_new = true});
    if (!marker_) marker_ = read_marker(directory, options.soc_version);
    staged_.path = fresh_staging_directory(directory);
    auto base = newest_whole_snapshot(directory, [&](const fs::path& snapshot) {
      fs::remove_all(staged_.path);  // what an attempt with a damaged one has left
      fs::create_directory(staged_.path);
      copy_database(snapshot, staged_.path);
      store_ = std::make_unique<RocksStore>(RocksStore::open_for_writing(staged_.path));
    });
    if (base) {
      require_known_schema(*store_, directory);
      return;
    }
    const fs::path live = directory / "db";
    if (marker_->layout > 1 && !marker_->is_new) reject_lost_snapshots(directory);
    if (marker_->layout == 1 && fs::exists(live)) {
      copy_database(live, staged_.path);
      store_ = std::make_unique<RocksStore>(RocksStore::open_for_writing(staged_.path));
    } else {
      store_ = std::make_unique<RocksStore>(RocksStore::create(staged_.path));
    }
  }

  const RocksStore& store() const { return *store_; }
  RocksStore& store() { return *store_; }
  const fs::path& staged() const { return staged_.path; }

  /// On disk, and what readers see, when it returns.
  void publish(const std::vector<Write>& batch, bool compacts = false) {
    store_->write_and_close(batch, compacts);
    seal(staged_.path);
    // No program that knows layout 1 alone may go on with a `db` that stays behind.
    if (marker_->layout < kLayout)
      write_marker(directory_, {.soc_version = marker_->soc_version, .is_new = marker_->is_new});
    bank::publish(staged_.path, directory_);
    if (marker_->is_new) write_marker(directory_, {.soc_version = marker_->soc_version});
    std::error_code ignored;
    fs::remove_all(directory_ / "db", ignored);  // of layout 1: snapshots have it all
  }

  /// What `fill` writes into an empty directory becomes the copy.
  void replace_by(const std::function<void(const fs::path&)>& fill) {
    store_.reset();
    fs::remove_all(staged_.path);
    fs::create_directory(staged_.path);
    fill(staged_.path);
    store_ = std::make_unique<RocksStore>(RocksStore::open_for_writing(staged_.path));
  }

  /// Leaves the bank as it was.
  void abandon() {
    store_.reset();
    fs::remove_all(staged_.path);
  }

 private:
  struct Copy {
    fs::path path;
    /// The next turn removes what this one cannot; published, it has another name.
    ~Copy() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  };

  static FileLock lock(const fs::path& directory, const BankOptions& options) {
    if (options.read_only) throw Error(ExitCode::kBank, "bank is read-only", directory.string());
    make_directories(directory);
    return FileLock(directory / "lock", options.lock_wait);
  }

  const fs::path& directory_;
  const FileLock lock_;
  std::optional<Marker> marker_;
  Copy staged_;  // outlives the store, which has it open
  std::unique_ptr<RocksStore> store_;
};

void KnowledgeBank::require_writable() {
  as_bank_error(state_->directory, [&] { Turn(state_->directory, state_->options).abandon(); });
}

std::vector<CommitOutcome> KnowledgeBank::commit(const Commit& commit) {
  const fs::path& directory = state_->directory;
  std::vector<CommitOutcome> outcomes;
  as_bank_error(directory, [&] {
    Turn turn(directory, state_->options);
    turn.publish(batch_of(commit, turn.store(), outcomes));
  });
  refresh();
  return outcomes;
}

void KnowledgeBank::fill(const std::function<FilledTables(const fs::path&)>& write) {
  const fs::path& directory = state_->directory;
  as_bank_error(directory, [&] {
    Turn turn(directory, state_->options);
    if (turn.store().get(Family::kMeta, kSchemaKey))
      throw Error(ExitCode::kBank, "bank is not empty", directory.string(), "name a new directory");
    const FilledTables made = write(turn.staged());
    turn.store().ingest(made.tables);
    turn.publish({{Family::kMeta, kSchemaKey, std::to_string(kSchema)},
                  {Family::kMeta, kSequenceKey, std::to_string(made.record_count)}});
  });
  refresh();
}

RemovedCount KnowledgeBank::remove(const Removal& removal) {
  const fs::path& directory = state_->directory;
  RemovedCount removed;
  as_bank_error(directory, [&] {
    Turn turn(directory, state_->options);
    std::vector<Write> batch = removal_batch(removal, turn.store(), directory, removed);
    if (batch.empty()) return turn.abandon();
    batch.push_back(
        {Family::kMeta, kSchemaKey, std::to_string(kSchema)});  // of what is written anew
    turn.publish(batch, true);
  });
  refresh();
  return removed;
}

void KnowledgeBank::compact() {
  as_bank_error(state_->directory,
                [&] { Turn(state_->directory, state_->options).publish({}, true); });
  refresh();
}

void KnowledgeBank::back_up(const fs::path& backups) const {
  as_bank_error(backups, [&] {
    const auto store = state_->current();
    if (!store)
      throw Error(ExitCode::kBank, "there is no bank", state_->directory.string(),
                  "name another with --bank, --job_type or --soc_version");
    make_directories(backups);
    store->back_up(backups);
  });
}

void KnowledgeBank::restore(const fs::path& backups) {
  as_bank_error(state_->directory, [&] {
    if (!fs::is_directory(backups))
      throw Error(ExitCode::kBank, "there are no backups", backups.string(),
                  "name what aoe_bank backup was told");
    Turn turn(state_->directory, state_->options);
    turn.replace_by([&](const fs::path& empty) { RocksStore::restore(backups, empty); });
    require_known_schema(turn.store(), state_->directory);
    turn.publish({});
  });
  refresh();
}

std::vector<Write> KnowledgeBank::batch_of(const Commit& commit, const RocksStore& store,
                                           std::vector<CommitOutcome>& outcomes) const {
  const fs::path& directory = state_->directory;
  std::map<std::string, BankEntry> touched;
  const auto entry_of = [&](const TaskKey& key) -> BankEntry& {
    AOE_CHECK(key.soc_version == state_->options.soc_version, "a strategy of other hardware");
    const auto [there, is_new] =
        touched.try_emplace(digest_bytes(key.digest()), BankEntry{key, {}});
    if (!is_new) return there->second;
    const auto stored = store.get(Family::kStrategy, there->first);
    auto entry = stored ? entry_from(*stored, directory) : std::nullopt;
    if (entry && entry->key.description == key.description) there->second = std::move(*entry);
    return there->second;
  };
  for (const TaskKey& key : commit.withdrawn) entry_of(key) = BankEntry{key, {}};
  for (const TaskKey& key : commit.unconfirmed_withdrawn) entry_of(key).unconfirmed = {};
  for (const NewStrategy& added : commit.strategies) {
    BankEntry& entry = entry_of(added.key);
    outcomes.push_back(merge(added.is_confirmed ? entry.set : entry.unconfirmed, added));
  }
  std::vector<Write> batch = {{Family::kMeta, kSchemaKey, std::to_string(kSchema)}};
  for (const auto& [key, entry] : touched) batch.push_back({Family::kStrategy, key, encode(entry)});
  std::uint64_t sequence = meta_number(store, kSequenceKey, directory);
  for (const NewRecord& added : commit.records) {
    std::string key = digest_bytes(added.task.digest);
    append_big_endian(key, sequence++);
    batch.push_back({Family::kRecord, std::move(key), encode(added.record)});
  }
  batch.push_back({Family::kMeta, kSequenceKey, std::to_string(sequence)});
  if (commit.roofs) {
    const nlohmann::json roofs = {{"peak_gflops", commit.roofs->peak_gflops},
                                  {"memory_gb_s", commit.roofs->memory_gb_s},
                                  {"when_utc", commit.roofs->when_utc}};
    batch.push_back({Family::kMeta, kRoofsKey, json_text(roofs)});
  }
  return batch;
}

}  // namespace aoe::bank
