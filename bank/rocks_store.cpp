// RocksDB behind the bank. The only file that includes RocksDB.
#include "bank/rocks_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/backup_engine.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/memory_wall.h"

namespace aoe::bank {
namespace {

constexpr std::array<const char*, 3> kFamilyNames = {"meta", "strategy", "record"};

/// RocksDB's own log tells users nothing and would be a write into a read-only bank.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

/// A copy that nobody else knows of may be lost with the power: whoever publishes it syncs each of its
/// files once, at the end. RocksDB would do so after every step.
class UnsyncedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }
};
class UnsyncedDirectory final : public rocksdb::FSDirectoryWrapper {
 public:
  using FSDirectoryWrapper::FSDirectoryWrapper;
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus FsyncWithDirOptions(const rocksdb::IOOptions&, rocksdb::IODebugContext*,
                                        const rocksdb::DirFsyncOptions&) override {
    return rocksdb::IOStatus::OK();
  }
};
class UnsyncedFiles final : public rocksdb::FileSystemWrapper {
 public:
  UnsyncedFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "UnsyncedFiles"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->NewWritableFile(name, options, file, debug);
    if (status.ok()) *file = std::make_unique<UnsyncedFile>(std::move(*file));
    return status;
  }
  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->NewDirectory(name, options, directory, debug);
    if (status.ok()) *directory = std::make_unique<UnsyncedDirectory>(std::move(*directory));
    return status;
  }
};

}  // namespace

bool is_lack_of_descriptors(std::string_view what) {
  return what.find(std::strerror(EMFILE)) != std::string_view::npos ||
         what.find(std::strerror(ENFILE)) != std::string_view::npos;
}

namespace {

void check(const rocksdb::Status& status, const std::string& action,
           const std::filesystem::path& directory) {
  if (status.ok()) return;
  const bool damaged = status.IsCorruption();
  const std::string text = status.ToString();
  const char* advice = "check permissions and free space";
  if (damaged) advice = "move it away and tune again, or restore a backup";
  if (is_lack_of_descriptors(text)) advice = "allow the process more of them (ulimit -n)";
  throw Error(ExitCode::kBank,
              (damaged ? "bank is damaged (" : "bank " + action + " failed (") + text + ")",
              directory.string(), advice);
}

rocksdb::DBOptions db_options() {
  rocksdb::DBOptions options;
  static const auto no_log = std::make_shared<NoLog>();
  options.info_log = no_log;
  options.max_open_files = -1;  // a snapshot may be removed while open: keep all of its files open
  options.keep_log_file_num = 1;
  options.max_file_opening_threads = 1;  // there are few, and a thread costs more than opening one
  options.max_background_jobs = 1;
  options.paranoid_checks = true;
  options.skip_stats_update_on_db_open = true;  // it reads a block of each table
  return options;
}

template <typename Engine>
std::unique_ptr<Engine> open_backups(const std::filesystem::path& directory) {
  rocksdb::BackupEngineOptions options(directory.string());
  options.info_log = db_options().info_log.get();  // as long as the process: see NoLog
  Engine* engine = nullptr;
  check(Engine::Open(options, rocksdb::Env::Default(), &engine), "opening backups", directory);
  return std::unique_ptr<Engine>(engine);
}

/// Drops from the tables what was written over or erased.
void compact(rocksdb::DB& db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles,
             const std::filesystem::path& directory) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  for (rocksdb::ColumnFamilyHandle* each : handles)
    check(db.CompactRange(options, each, nullptr, nullptr), "compacting", directory);
}

/// Keys are digests: no two lookups are near each other, so that what counts is that few tables are asked, and few blocks read.
std::shared_ptr<rocksdb::TableFactory> table_factory() {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  static const auto cache = rocksdb::NewLRUCache(std::size_t{32} << 20);  // of all banks
  table.block_cache = cache;
  // A snapshot shares its tables with the one before, so what a process has read of them for that one serves the next: a commit opens
  // two. Pinned, so that no lookup asks the cache for them.
  table.cache_index_and_filter_blocks = true;
  table.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kAll;
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(table));
}

rocksdb::ColumnFamilyOptions family_options() {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = 4 << 20;  // a commit holds kilobytes; do not reserve more
  options.compression = rocksdb::kLZ4Compression;
  options.disable_auto_compactions =
      true;  // merge_small_runs() knows when, and is done when it returns
  options.table_factory = table_factory();
  return options;
}

/// Each commit is a run of its own, which lookups have to ask. Small ones are merged with small ones, so that no commit pays for
/// all of the bank, and each entry is written again a few times only.
void merge_small_runs(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family,
                      const std::filesystem::path& directory) {
  constexpr std::size_t kMostRuns = 8;
  rocksdb::ColumnFamilyMetaData stored;
  db.GetColumnFamilyMetaData(family, &stored);
  const std::vector<rocksdb::SstFileMetaData>& runs = stored.levels.front().files;  // newest first
  if (runs.size() <= kMostRuns) return;
  std::vector<std::string> merged;
  std::uint64_t bytes = 0;
  for (const rocksdb::SstFileMetaData& run : runs) {
    if (merged.size() >= 2 && run.size > 2 * bytes) break;
    merged.push_back(run.name);
    bytes += run.size;
  }
  check(db.CompactFiles({}, family, merged, 0), "merging tables", directory);
}

std::vector<rocksdb::ColumnFamilyDescriptor> families() {
  const rocksdb::ColumnFamilyOptions options = family_options();
  std::vector<rocksdb::ColumnFamilyDescriptor> list = {
      {rocksdb::kDefaultColumnFamilyName, options}};
  for (const char* name : kFamilyNames) list.emplace_back(name, options);
  return list;
}

}  // namespace

struct RocksStore::State {
  std::filesystem::path directory;
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;  ///< default, then kFamilyNames

  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    return handles.at(static_cast<std::size_t>(family) + 1);
  }
  rocksdb::Status close() {
    if (!db) return {};
    for (rocksdb::ColumnFamilyHandle* each : handles) db->DestroyColumnFamilyHandle(each);
    handles.clear();
    const rocksdb::Status status = db->Close();
    db.reset();
    return status;
  }
  ~State() { close().PermitUncheckedError(); }
};

RocksStore::RocksStore(std::unique_ptr<State> state) : state_(std::move(state)) {
}
RocksStore::~RocksStore() = default;
RocksStore::RocksStore(RocksStore&&) noexcept = default;

RocksStore RocksStore::create(const std::filesystem::path& directory) {
  return open(directory, true);
}

RocksStore RocksStore::open_for_writing(const std::filesystem::path& directory) {
  return open(directory, false);
}

RocksStore RocksStore::open(const std::filesystem::path& directory, bool creates) {
  rocksdb::DBOptions options = db_options();
  options.create_if_missing = creates;
  options.create_missing_column_families = creates;
  static const auto unsynced = rocksdb::NewCompositeEnv(std::make_shared<UnsyncedFiles>());
  options.env = unsynced.get();
  auto state = std::make_unique<State>();
  state->directory = directory;
  rocksdb::DB* db = nullptr;
  // Where its thread cannot be started, what has passed as an exception is joined when the next database is closed.
  const rocksdb::Status opened = behind_memory_wall([&] {
    return rocksdb::DB::Open(options, directory.string(), families(), &state->handles, &db);
  });
  check(opened, "opening", directory);
  state->db.reset(db);
  return RocksStore(std::move(state));
}

RocksStore RocksStore::open_snapshot(const std::filesystem::path& directory) {
  auto state = std::make_unique<State>();
  state->directory = directory;
  rocksdb::DB* db = nullptr;
  check(rocksdb::DB::OpenForReadOnly(db_options(), directory.string(), families(), &state->handles,
                                     &db),
        "opening", directory);
  state->db.reset(db);
  return RocksStore(std::move(state));
}

bool RocksStore::read(Family family, std::string_view key,
                      const std::function<void(std::string_view)>& take) const {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = state_->db->Get({}, state_->handle(family), key, &value);
  if (status.IsNotFound()) return false;
  check(status, "reading", state_->directory);
  take({value.data(), value.size()});
  return true;
}

std::optional<std::string> RocksStore::get(Family family, std::string_view key) const {
  std::string value;
  const bool is_there = read(family, key, [&](std::string_view bytes) { value = bytes; });
  return is_there ? std::optional(std::move(value)) : std::nullopt;
}

void RocksStore::scan(Family family, std::string_view prefix,
                      const std::function<bool(std::string_view, std::string_view)>& visit) const {
  const std::unique_ptr<rocksdb::Iterator> it(state_->db->NewIterator({}, state_->handle(family)));
  const rocksdb::Slice start(prefix.data(), prefix.size());
  for (it->Seek(start); it->Valid() && it->key().starts_with(start); it->Next()) {
    if (!visit({it->key().data(), it->key().size()}, {it->value().data(), it->value().size()}))
      break;
  }
  check(it->status(), "reading", state_->directory);
}

namespace {

class RocksCursor final : public ValueCursor {
 public:
  RocksCursor(std::unique_ptr<rocksdb::Iterator> it, std::filesystem::path directory)
      : it_(std::move(it)), directory_(std::move(directory)) {}
  bool is_at_end() const override {
    if (it_->Valid()) return false;
    check(it_->status(), "reading", directory_);
    return true;
  }
  std::string_view key() const override { return {it_->key().data(), it_->key().size()}; }
  std::string_view value() const override { return {it_->value().data(), it_->value().size()}; }
  void next() override { it_->Next(); }

 private:
  std::unique_ptr<rocksdb::Iterator> it_;
  std::filesystem::path directory_;
};

}  // namespace

std::unique_ptr<ValueCursor> RocksStore::cursor(Family family, std::string_view first) const {
  rocksdb::ReadOptions options;
  options.readahead_size = 1 << 20;
  options.fill_cache = false;
  std::unique_ptr<rocksdb::Iterator> it(state_->db->NewIterator(options, state_->handle(family)));
  it->Seek(first);
  return std::make_unique<RocksCursor>(std::move(it), state_->directory);
}

struct TableWriter::State {
  std::filesystem::path path;
  rocksdb::SstFileWriter writer;
  std::size_t count = 0;
};

TableWriter::TableWriter(std::filesystem::path path)
    : state_(new State{std::move(path),
                       {rocksdb::EnvOptions(), rocksdb::Options(db_options(), family_options())}}) {
  check(state_->writer.Open(state_->path.string()), "writing", state_->path);
}
TableWriter::~TableWriter() = default;
TableWriter::TableWriter(TableWriter&&) noexcept = default;

void TableWriter::put(std::string_view key, std::string_view value) {
  check(state_->writer.Put(key, value), "writing", state_->path);
  ++state_->count;
}

std::size_t TableWriter::count() const {
  return state_->count;
}

void TableWriter::finish() {
  check(state_->writer.Finish(), "writing", state_->path);
}

void RocksStore::ingest(const std::vector<Table>& tables) {
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  for (const Family family : {Family::kStrategy, Family::kRecord}) {
    std::vector<std::string> files;
    for (const Table& table : tables)
      if (table.family == family) files.push_back(table.path.string());
    if (!files.empty())
      check(state_->db->IngestExternalFile(state_->handle(family), files, options), "writing",
            state_->directory);
  }
}

void RocksStore::check_tables() const {
  check(state_->db->VerifyChecksum(), "reading", state_->directory);
}

RocksStore RocksStore::repair(const std::filesystem::path& directory) {
  check(rocksdb::RepairDB(directory.string(), db_options(), families()), "repairing", directory);
  return open(directory, true);  // families without a table are forgotten by the repair
}

void RocksStore::back_up(const std::filesystem::path& backups) const {
  const auto engine = open_backups<rocksdb::BackupEngine>(backups);
  check(engine->CreateNewBackup(state_->db.get(), true), "backing up", backups);
}

void RocksStore::restore(const std::filesystem::path& backups,
                         const std::filesystem::path& directory) {
  const auto engine = open_backups<rocksdb::BackupEngineReadOnly>(backups);
  check(engine->RestoreDBFromLatestBackup(directory.string(), directory.string()), "restoring",
        backups);
}

void RocksStore::write_and_close(const std::vector<Write>& batch, bool compacts) {
  // A write that was left by an exception is waited for by the next, and by what closes the database.
  behind_memory_wall([&] { write_all_and_close(batch, compacts); });
}

void RocksStore::write_all_and_close(const std::vector<Write>& batch, bool compacts) {
  rocksdb::WriteBatch writes;
  for (const Write& write : batch) {
    rocksdb::ColumnFamilyHandle* const family = state_->handle(write.family);
    check(write.value ? writes.Put(family, write.key, *write.value)
                      : writes.Delete(family, write.key),
          "writing", state_->directory);
  }
  rocksdb::WriteOptions options;
  options.disableWAL = true;  // the whole database is published or none of it
  check(state_->db->Write(options, &writes), "writing", state_->directory);
  check(state_->db->Flush({}, state_->handles), "writing", state_->directory);
  if (compacts) compact(*state_->db, state_->handles, state_->directory);
  for (rocksdb::ColumnFamilyHandle* each : state_->handles)
    merge_small_runs(*state_->db, each, state_->directory);
  std::vector<std::string> live;
  std::uint64_t manifest_bytes = 0;
  check(state_->db->GetLiveFiles(live, &manifest_bytes, false), "writing", state_->directory);
  check(state_->close(), "writing", state_->directory);
  std::set<std::string> needed;  // given as "/000012.sst"
  for (const std::string& name : live) needed.insert(name.substr(name.find_first_not_of('/')));
  // Options are given whenever a snapshot is opened; a file of them would be one more to sync.
  std::erase_if(needed, [](const std::string& name) { return name.starts_with("OPTIONS-"); });
  for (const auto& entry : std::filesystem::directory_iterator(state_->directory))
    if (!needed.contains(entry.path().filename().string())) std::filesystem::remove(entry.path());
}

}  // namespace aoe::bank
