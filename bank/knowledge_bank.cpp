// The bank's reading side, and commits: copy, write, seal, publish. See the header for the layout.
#include "bank/knowledge_bank.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <shared_mutex>

#include "bank/file_lock.h"
#include "bank/marker.h"
#include "bank/rocks_store.h"
#include "bank/snapshots.h"
#include "bank/values.h"
#include "base/check.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"

namespace aoe::bank {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSchemaKey = "schema";
constexpr const char* kSequenceKey = "record_sequence";  ///< records that were ever committed

/// Whatever the file system says while a bank is worked on is an error of the bank.
template <typename Action>
auto as_bank_error(const fs::path& directory, const Action& action) {
  constexpr const char* kAdvice = "check permissions and free space";
  try {
    return action();
  } catch (const fs::filesystem_error& e) {
    const fs::path& where = e.path1().empty() ? directory : e.path1();
    throw Error(ExitCode::kBank, "bank cannot be used: " + e.code().message(), where.string(),
                kAdvice);
  } catch (const Error& e) {
    if (e.code() == ExitCode::kBank) throw;
    throw Error(ExitCode::kBank, e.what());
  }
}

/// Each new directory is there after a power loss, too.
void make_directories(const fs::path& directory) {
  if (directory.empty() || fs::is_directory(directory)) return;
  make_directories(directory.parent_path());
  fs::create_directory(directory);
  sync_path(directory.has_parent_path() ? directory.parent_path() : ".");
}

std::shared_ptr<const RocksStore> open_newest_snapshot(const fs::path& directory) {
  std::shared_ptr<const RocksStore> store;
  newest_whole_snapshot(directory, [&](const fs::path& snapshot) {
    store = std::make_shared<const RocksStore>(RocksStore::open_snapshot(snapshot));
  });
  return store;
}

std::uint64_t meta_number(const RocksStore& store, const char* key, const fs::path& directory) {
  const auto text = store.get(Family::kMeta, key);
  return text ? number_from(*text, directory) : 0;
}

void require_known_schema(const RocksStore& store, const fs::path& directory) {
  const std::uint64_t schema = meta_number(store, kSchemaKey, directory);
  if (schema > kSchema)
    throw Error(ExitCode::kBank,
                "bank was written by a newer version (schema " + std::to_string(schema) +
                    ", this one knows " + std::to_string(kSchema) + ")",
                directory.string(), "upgrade this program");
}

void reject_lost_snapshots(const fs::path& directory) {
  throw Error(ExitCode::kBank, "bank is damaged (its snapshots are gone)", directory.string(),
              "restore a backup, or move the bank away and tune again");
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

struct KnowledgeBank::State {
  fs::path directory;
  BankOptions options;
  mutable std::shared_mutex mutex;
  std::shared_ptr<const RocksStore> store;  ///< nullptr: no snapshot yet

  std::shared_ptr<const RocksStore> current() const {
    const std::shared_lock lock(mutex);
    return store;
  }
};

KnowledgeBank::KnowledgeBank(fs::path directory, BankOptions options)
    : state_(std::make_unique<State>()) {
  state_->directory = std::move(directory);
  state_->options = std::move(options);
  refresh();
}

KnowledgeBank::~KnowledgeBank() = default;

void KnowledgeBank::refresh() {
  const fs::path& directory = state_->directory;
  std::shared_ptr<const RocksStore> opened;
  as_bank_error(directory, [&] {
    const auto marker = read_marker(directory, state_->options.soc_version);
    if (!marker) return;
    opened = open_newest_snapshot(directory);
    // Version 1 did not say so, and may have been killed in its first commit.
    if (!opened && !marker->is_new && marker->layout > 1) reject_lost_snapshots(directory);
    if (opened) require_known_schema(*opened, directory);
  });
  const std::unique_lock lock(state_->mutex);
  state_->store = std::move(opened);
}

std::optional<BankEntry> KnowledgeBank::find_entry(const TaskKey& key) const {
  const auto store = state_->current();
  if (!store || key.soc_version != state_->options.soc_version) return std::nullopt;
  const auto bytes = store->get(Family::kStrategy, digest_bytes(key.digest()));
  auto entry = bytes ? entry_from(*bytes, state_->directory) : std::nullopt;
  // The digest finds, the text decides.
  if (!entry || entry->key.description != key.description ||
      entry->key.soc_version != key.soc_version)
    return std::nullopt;
  return entry;
}

std::optional<StrategySet> KnowledgeBank::find(const TaskKey& key) const {
  auto entry = find_entry(key);
  if (!entry || entry->set.strategies.empty()) return std::nullopt;
  return std::move(entry->set);
}

std::optional<StrategySet> KnowledgeBank::find_unconfirmed(const TaskKey& key) const {
  auto entry = find_entry(key);
  if (!entry || entry->unconfirmed.strategies.empty()) return std::nullopt;
  return std::move(entry->unconfirmed);
}

std::string KnowledgeBank::description() const {
  return (state_->options.read_only ? "built-in bank " : "custom bank ") +
         state_->directory.string();
}

std::vector<BankEntry> KnowledgeBank::entries() const {
  std::vector<BankEntry> list;
  if (const auto store = state_->current())
    store->scan(Family::kStrategy, "", [&](std::string_view, std::string_view value) {
      auto entry = entry_from(value, state_->directory);
      // A withdrawn task keeps an entry without strategies.
      if (entry && !entry->is_empty()) list.push_back(std::move(*entry));
      return true;
    });
  return list;
}

std::vector<Record> KnowledgeBank::records(const TaskDigest& task) const {
  std::vector<Record> list;
  if (const auto store = state_->current())
    store->scan(Family::kRecord, digest_bytes(task.digest),
                [&](std::string_view, std::string_view value) {
                  if (auto record = record_from(value, state_->directory))
                    list.push_back(std::move(*record));
                  return true;
                });
  return list;
}

std::vector<NewRecord> KnowledgeBank::all_records() const {
  std::map<std::uint64_t, NewRecord> by_number;
  if (const auto store = state_->current())
    store->scan(Family::kRecord, "", [&](std::string_view key, std::string_view value) {
      auto record = record_from(value, state_->directory);
      if (record)
        by_number.emplace(record_number(key), NewRecord{task_of(key), std::move(*record)});
      return true;
    });
  std::vector<NewRecord> list;
  for (auto& [number, record] : by_number) list.push_back(std::move(record));
  return list;
}

std::size_t KnowledgeBank::record_count() const {
  std::size_t count = 0;
  if (const auto store = state_->current())
    store->scan(Family::kRecord, "",
                [&](std::string_view, std::string_view) { return ++count > 0; });
  return count;
}

std::vector<Record> KnowledgeBank::recent_records(std::size_t most) const {
  std::vector<Record> list;
  const auto store = state_->current();
  if (!store) return list;
  // Keys end in a number that counts all records of the bank.
  const std::uint64_t count = meta_number(*store, kSequenceKey, state_->directory);
  const std::uint64_t first = count > most ? count - most : 0;
  store->scan(Family::kRecord, "", [&](std::string_view key, std::string_view value) {
    if (record_number(key) < first) return true;
    if (auto record = record_from(value, state_->directory)) list.push_back(std::move(*record));
    return true;
  });
  return list;
}

// ---- writing ----

/// One writer's turn: the bank is locked, a copy of what is there is open for writing.
class KnowledgeBank::Turn {
 public:
  Turn(const fs::path& directory, const BankOptions& options)
      : directory_(directory), lock_(lock(directory, options)) {
    marker_ = read_marker(directory, options.soc_version);
    if (!marker_) write_marker(directory, {.soc_version = options.soc_version, .is_new = true});
    if (!marker_) marker_ = read_marker(directory, options.soc_version);
    staged_ = fresh_staging_directory(directory);
    auto base = newest_whole_snapshot(directory, [&](const fs::path& snapshot) {
      fs::remove_all(staged_);  // what an attempt with a damaged one has left
      fs::create_directory(staged_);
      copy_database(snapshot, staged_);
      store_ = std::make_unique<RocksStore>(RocksStore::open_for_writing(staged_));
    });
    if (base) {
      require_known_schema(*store_, directory);
      return;
    }
    const fs::path live = directory / "db";
    if (marker_->layout > 1 && !marker_->is_new) reject_lost_snapshots(directory);
    if (marker_->layout == 1 && fs::exists(live)) {
      copy_database(live, staged_);
      store_ = std::make_unique<RocksStore>(RocksStore::open_for_writing(staged_));
    } else {
      store_ = std::make_unique<RocksStore>(RocksStore::create(staged_));
    }
  }

  const RocksStore& store() const { return *store_; }

  /// On disk, and what readers see, when it returns.
  void publish(const std::vector<Put>& batch) {
    store_->write_and_close(batch);
    seal(staged_);
    // No program that knows layout 1 alone may go on with a `db` that stays behind.
    if (marker_->layout < kLayout)
      write_marker(directory_, {.soc_version = marker_->soc_version, .is_new = marker_->is_new});
    bank::publish(staged_, directory_);
    if (marker_->is_new) write_marker(directory_, {.soc_version = marker_->soc_version});
    std::error_code ignored;
    fs::remove_all(directory_ / "db", ignored);  // of layout 1: snapshots have it all
  }

  /// Leaves the bank as it was.
  void abandon() {
    store_.reset();
    fs::remove_all(staged_);
  }

 private:
  static FileLock lock(const fs::path& directory, const BankOptions& options) {
    if (options.read_only) throw Error(ExitCode::kBank, "bank is read-only", directory.string());
    make_directories(directory);
    return FileLock(directory / "lock", options.lock_wait);
  }

  const fs::path& directory_;
  const FileLock lock_;
  std::optional<Marker> marker_;
  fs::path staged_;
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

std::vector<Put> KnowledgeBank::batch_of(const Commit& commit, const RocksStore& store,
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
  std::vector<Put> batch = {{Family::kMeta, kSchemaKey, std::to_string(kSchema)}};
  for (const auto& [key, entry] : touched)
    batch.push_back({Family::kStrategy, key, to_cbor(entry_to_json(entry))});
  std::uint64_t sequence = meta_number(store, kSequenceKey, directory);
  for (const NewRecord& added : commit.records) {
    std::string key = digest_bytes(added.task.digest);
    append_big_endian(key, sequence++);
    batch.push_back({Family::kRecord, std::move(key), to_cbor(record_to_json(added.record))});
  }
  batch.push_back({Family::kMeta, kSequenceKey, std::to_string(sequence)});
  return batch;
}

const std::string& KnowledgeBank::soc_version() const {
  return state_->options.soc_version;
}

const fs::path& KnowledgeBank::directory() const {
  return state_->directory;
}

std::optional<StrategySet> LayeredSource::find(const TaskKey& key) const {
  for (const StrategySource* source : sources_)
    if (auto set = source->find(key)) return set;
  return std::nullopt;
}

std::string LayeredSource::description() const {
  std::string text;
  for (const StrategySource* source : sources_)
    text += (text.empty() ? "" : " over ") + source->description();
  return text.empty() ? "none" : text;
}

}  // namespace aoe::bank
