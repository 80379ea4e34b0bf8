// The bank's directory, values and commits. See the header for the layout.
#include "bank/knowledge_bank.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <shared_mutex>

#include "bank/file_lock.h"
#include "bank/rocks_store.h"
#include "base/check.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"

namespace aoe::bank {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

constexpr int kLayout = 1;  ///< of the directory
constexpr int kSchema = 1;  ///< of the values
constexpr std::size_t kSnapshotsKept =
    3;  ///< a slow reader may still be opening the one before the newest
constexpr const char* kMarkerKind = "aoe knowledge bank";

// ---- directory ----

/// Snapshots by number, oldest first.
std::map<std::uint64_t, fs::path> snapshots(const fs::path& directory) {
  std::map<std::uint64_t, fs::path> found;
  std::error_code status;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, status)) {
    const std::string file = entry.path().filename().string();
    constexpr std::string_view kPrefix = "snapshot-";
    if (!file.starts_with(kPrefix)) continue;
    const std::string digits = file.substr(kPrefix.size());
    if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos)
      found[std::stoull(digits)] = entry.path();
  }
  return found;
}

/// RocksDB takes a truncated MANIFEST for the trace of a crash and silently forgets what stood
/// behind the cut; a snapshot is never cut by a crash. So a snapshot carries a list of its files:
/// sizes, and checksums but for the .sst files, whose blocks RocksDB checks itself.
json seal_of(const fs::path& snapshot) {
  json files = json::object();
  for (const fs::directory_entry& entry : fs::directory_iterator(snapshot)) {
    const fs::path& path = entry.path();
    if (path.filename() == "SEAL") continue;
    json& file = files[path.filename().string()];
    file["size"] = fs::file_size(path);
    if (path.extension() != ".sst") {
      const std::string bytes = read_file(path, ExitCode::kBank);
      file["crc32c"] = crc32c(bytes.data(), bytes.size());
    }
  }
  return files;
}

void check_seal(const fs::path& snapshot) {
  const json seal = json::parse(read_file(snapshot / "SEAL", ExitCode::kBank), nullptr, false);
  if (seal != seal_of(snapshot))
    throw Error(ExitCode::kBank, "bank is damaged (files differ from the list in SEAL)",
                snapshot.string(),
                "move this snapshot away to fall back on the one before, or restore a backup");
}

/// Whether a bank is there. Throws when something else is.
bool check_marker(const fs::path& directory, const std::string& soc_version) {
  std::error_code status;
  if (!fs::exists(directory, status)) return false;
  if (!fs::is_directory(directory, status))
    throw Error(ExitCode::kBank, "is not a bank (not a directory)", directory.string(),
                "name a bank's directory");
  const fs::path marker = directory / "BANK";
  if (!fs::exists(marker, status)) {
    // A first commit that is under way has made the lock but not the marker yet.
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, status))
      if (entry.path().filename() != "lock" &&
          !entry.path().filename().string().starts_with("BANK.tmp"))
        throw Error(ExitCode::kBank, "is not a bank (no file BANK in it)", directory.string(),
                    "name a bank's directory, or an empty one");
    return false;
  }
  const json content = json::parse(read_file(marker, ExitCode::kBank), nullptr, false);
  if (!content.is_object() || content.value("kind", "") != kMarkerKind)
    throw Error(ExitCode::kBank, "is not a bank marker", marker.string(),
                "move the directory away");
  if (content.value("layout", 0) > kLayout)
    throw Error(ExitCode::kBank,
                "bank was written by a newer version (layout " +
                    std::to_string(content.value("layout", 0)) + ", this one knows " +
                    std::to_string(kLayout) + ")",
                directory.string(), "upgrade this program");
  if (content.value("soc_version", "") != soc_version)
    throw Error(
        ExitCode::kBank,
        "bank is for soc_version " + content.value("soc_version", "?") + ", not " + soc_version,
        directory.string(), "name the bank of this hardware");
  return true;
}

void create_directory_and_marker(const fs::path& directory, const std::string& soc_version) {
  const fs::path marker = directory / "BANK";
  std::error_code status;
  if (fs::exists(marker, status)) return;
  const json content = {{"kind", kMarkerKind}, {"layout", kLayout}, {"soc_version", soc_version}};
  write_file_atomically(marker, content.dump(2) + "\n", true);
}

// ---- keys and values ----

void append_big_endian(std::string& key, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>((value >> shift) & 0xff);
}

std::uint64_t read_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

std::string digest_bytes(const TaskKey& key) {
  const Digest128 digest = key.digest();
  std::string bytes;
  append_big_endian(bytes, digest.high);
  append_big_endian(bytes, digest.low);
  return bytes;
}

std::string to_cbor(const json& value) {
  std::string bytes;
  json::to_cbor(value, bytes);
  return bytes;
}

json from_cbor(std::string_view bytes, const fs::path& directory) {
  json value = json::from_cbor(bytes, true, false);
  if (!value.is_object())
    throw Error(ExitCode::kBank, "bank holds a damaged value", directory.string(),
                "restore a backup");
  return value;
}

json entry_to_json(const BankEntry& entry) {
  return {{"schema", kSchema},
          {"description", entry.key.description},
          {"soc_version", entry.key.soc_version},
          {"strategies", to_json(entry.set)}};
}

/// nullopt for an entry of another schema: a miss for that entry alone.
std::optional<BankEntry> entry_from(std::string_view bytes, const fs::path& directory) {
  const json value = from_cbor(bytes, directory);
  if (value.value("schema", 0) != kSchema) {
    logger("bank")->warn("{}: an entry of schema {} is left out", directory.string(),
                         value.value("schema", 0));
    return std::nullopt;
  }
  try {
    return BankEntry{{value.at("description"), value.at("soc_version")},
                     strategy_set_from_json(value.at("strategies"))};
  } catch (const json::exception& e) {
    throw Error(ExitCode::kBank, std::string("bank holds a damaged entry (") + e.what() + ")",
                directory.string());
  }
}

json record_to_json(const Record& record) {
  json features = json::object();
  for (const auto& [name, value] : record.features) features[name] = value;
  return {{"schema", kSchema},       {"strategy", to_json(record.strategy)},
          {"status", record.status}, {"detail", record.detail},
          {"seed", record.seed},     {"features", features}};
}

std::optional<Record> record_from(std::string_view bytes, const fs::path& directory) {
  const json value = from_cbor(bytes, directory);
  if (value.value("schema", 0) != kSchema) return std::nullopt;
  Record record{strategy_from_json(value.at("strategy")), value.value("status", ""),
                value.value("detail", ""), value.value("seed", std::uint64_t{0})};
  if (const auto features = value.find("features"); features != value.end())
    for (const auto& [name, number] : features->items())
      record.features.emplace_back(name, number.get<double>());
  return record;
}

/// Puts `added` into `set`; the set stays sorted, fastest first.
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

}  // namespace

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
  std::shared_ptr<const RocksStore> opened;
  if (check_marker(state_->directory, state_->options.soc_version)) {
    // A writer may remove an old snapshot between our listing and our opening it; then there is a
    // newer one.
    for (int attempt = 0;; ++attempt) {
      const auto found = snapshots(state_->directory);
      if (found.empty()) break;
      const fs::path& newest = found.rbegin()->second;
      try {
        check_seal(newest);
        opened = std::make_shared<const RocksStore>(RocksStore::open_snapshot(newest));
        break;
      } catch (const std::exception&) {
        std::error_code status;
        if (attempt >= 10 || fs::exists(newest, status)) throw;
      }
    }
  }
  if (opened) {
    const auto schema = opened->get(Family::kMeta, "schema");
    if (schema && std::stoi(*schema) > kSchema)
      throw Error(ExitCode::kBank,
                  "bank was written by a newer version (schema " + *schema + ", this one knows " +
                      std::to_string(kSchema) + ")",
                  state_->directory.string(), "upgrade this program");
  }
  const std::unique_lock lock(state_->mutex);
  state_->store = std::move(opened);
}

std::optional<StrategySet> KnowledgeBank::find(const TaskKey& key) const {
  const auto store = state_->current();
  if (!store || key.soc_version != state_->options.soc_version) return std::nullopt;
  const auto bytes = store->get(Family::kStrategy, digest_bytes(key));
  if (!bytes) return std::nullopt;
  auto entry = entry_from(*bytes, state_->directory);
  // The digest finds, the text decides.
  if (!entry || entry->key.description != key.description ||
      entry->key.soc_version != key.soc_version || entry->set.strategies.empty())
    return std::nullopt;
  return std::move(entry->set);
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
      if (entry && !entry->set.strategies.empty()) list.push_back(std::move(*entry));
      return true;
    });
  return list;
}

std::vector<Record> KnowledgeBank::records(const TaskKey& key) const {
  std::vector<Record> list;
  if (const auto store = state_->current())
    store->scan(Family::kRecord, digest_bytes(key), [&](std::string_view, std::string_view value) {
      if (auto record = record_from(value, state_->directory)) list.push_back(std::move(*record));
      return true;
    });
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
  const auto count_text = store->get(Family::kMeta, "record_sequence");
  const std::uint64_t count = count_text ? std::stoull(*count_text) : 0;
  const std::uint64_t first = count > most ? count - most : 0;
  store->scan(Family::kRecord, "", [&](std::string_view key, std::string_view value) {
    if (read_big_endian(key.substr(key.size() - sizeof first)) < first) return true;
    if (auto record = record_from(value, state_->directory)) list.push_back(std::move(*record));
    return true;
  });
  return list;
}

std::vector<CommitOutcome> KnowledgeBank::commit(const Commit& commit) {
  const fs::path& directory = state_->directory;
  if (state_->options.read_only)
    throw Error(ExitCode::kBank, "bank is read-only", directory.string());
  std::error_code status;
  fs::create_directories(directory, status);
  if (status)
    throw Error(ExitCode::kBank, "bank cannot be created: " + status.message(), directory.string());

  const FileLock lock(directory / "lock", state_->options.lock_wait);
  check_marker(directory, state_->options.soc_version);
  create_directory_and_marker(directory, state_->options.soc_version);
  std::vector<CommitOutcome> outcomes;
  {
    RocksStore db = RocksStore::open_for_writing(directory / "db");
    std::vector<Put> batch = {{Family::kMeta, "schema", std::to_string(kSchema)}};
    std::map<std::string, BankEntry> touched;
    for (const TaskKey& key : commit.withdrawn) touched[digest_bytes(key)] = BankEntry{key, {}};
    for (const NewStrategy& added : commit.strategies) {
      AOE_CHECK(added.key.soc_version == state_->options.soc_version,
                "a strategy of other hardware");
      const std::string key = digest_bytes(added.key);
      if (!touched.contains(key)) {
        const auto stored = db.get(Family::kStrategy, key);
        auto entry = stored ? entry_from(*stored, directory) : std::nullopt;
        touched[key] = entry && entry->key.description == added.key.description
                           ? *entry
                           : BankEntry{added.key, {}};
      }
      outcomes.push_back(merge(touched[key].set, added));
    }
    for (const auto& [key, entry] : touched)
      batch.push_back({Family::kStrategy, key, to_cbor(entry_to_json(entry))});
    const auto sequence_text = db.get(Family::kMeta, "record_sequence");
    std::uint64_t sequence = sequence_text ? std::stoull(*sequence_text) : 0;
    for (const NewRecord& added : commit.records) {
      std::string key = digest_bytes(added.key);
      append_big_endian(key, sequence++);
      batch.push_back({Family::kRecord, std::move(key), to_cbor(record_to_json(added.record))});
    }
    batch.push_back({Family::kMeta, "record_sequence", std::to_string(sequence)});
    db.write_synced(batch);

    const auto existing = snapshots(directory);
    const std::uint64_t next = existing.empty() ? 1 : existing.rbegin()->first + 1;
    const fs::path temporary = directory / "snapshot.tmp";
    fs::remove_all(temporary, status);  // left behind by a process that died here
    db.checkpoint(temporary);
    write_file_atomically(temporary / "SEAL", seal_of(temporary).dump(2) + "\n");
    fs::rename(temporary, directory / ("snapshot-" + std::to_string(next)), status);
    if (status)
      throw Error(ExitCode::kBank, "snapshot cannot be published: " + status.message(),
                  directory.string());
    std::size_t surplus =
        existing.size() + 1 > kSnapshotsKept ? existing.size() + 1 - kSnapshotsKept : 0;
    for (const auto& [number, path] : existing) {
      if (surplus-- == 0) break;
      fs::remove_all(path, status);
    }
  }
  refresh();
  return outcomes;
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
