// Names, seals, copies, and the order in which a snapshot reaches the disk.
#include "bank/snapshots.h"

#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "bank/rocks_store.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/new_file.h"
#include "base/to_number.h"

namespace aoe::bank {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

constexpr std::string_view kPrefix = "snapshot-";
// Names that cannot be foreseen begin with these.
constexpr const char* kStaging = "snapshot";
constexpr const char* kDiscarded = "discarded";
constexpr const char* kSalvage = "salvage";
constexpr const char* kSeal = "SEAL";
/// A slow reader may still be opening the one before the newest.
constexpr std::size_t kSnapshotsKept = 3;
constexpr int kMostListings = 10;
constexpr std::uint64_t kLargestNumber = 1'000'000'000'000'000;  ///< nobody commits that often

bool is_table(const fs::path& file) {
  return file.extension() == ".sst";
}

/// RocksDB writes these once.
bool never_changes(const fs::path& file) {
  return is_table(file) || file.filename().string().starts_with("OPTIONS-");
}

/// With a snapshot, whose seal has synced it.
bool is_shared(const fs::directory_entry& file) {
  return never_changes(file.path()) && file.hard_link_count() > 1;
}

std::optional<std::uint64_t> number_in(const std::string& name) {
  const std::string digits = name.substr(kPrefix.size());
  const auto number = to_number<std::uint64_t>(digits);
  if (!number || *number > kLargestNumber || std::to_string(*number) != digits) return std::nullopt;
  return number;
}

/// RocksDB takes a truncated MANIFEST for the trace of a crash and silently forgets what stood
/// behind the cut; a snapshot is never cut by a crash. So a snapshot carries a list of its files:
/// sizes, and checksums but for the tables, whose blocks RocksDB checks itself.
json seal_of(const fs::path& snapshot) {
  json files = json::object();
  for (const fs::directory_entry& entry : fs::directory_iterator(snapshot)) {
    const fs::path& path = entry.path();
    if (path.filename() == kSeal) continue;
    json& file = files[path.filename().string()];
    file["size"] = fs::file_size(path);
    if (!is_table(path)) {
      const std::string bytes = read_file(path, ExitCode::kBank);
      file["crc32c"] = crc32c(bytes.data(), bytes.size());
    }
  }
  return files;
}

[[noreturn]] void reject(const fs::path& snapshot, const std::string& cause) {
  throw Error(ExitCode::kBank, "bank is damaged (" + cause + ")", snapshot.string(),
              "restore a backup, or move the bank away and tune again");
}

void check_seal(const fs::path& snapshot) {
  if (!fs::is_directory(snapshot)) reject(snapshot, "not a directory");
  if (!fs::exists(snapshot / kSeal)) reject(snapshot, "it has no SEAL");
  const json seal = read_json_file(snapshot / kSeal, ExitCode::kBank);
  if (!seal.is_object() || !seal.contains("CURRENT")) reject(snapshot, "SEAL cannot be read");
  if (seal != seal_of(snapshot)) reject(snapshot, "its files are not those that SEAL lists");
}

/// Behind a name that no reader looks at, so that a removal that is cut short leaves no ruin.
void discard(const fs::path& snapshot) {
  const fs::path discarded = unforeseen_name(snapshot.parent_path() / kDiscarded);
  std::error_code status;
  fs::rename(snapshot, discarded, status);
  if (!status) fs::remove_all(discarded, status);
  if (status)
    logger("bank")->warn("{}: an old snapshot cannot be removed: {}", snapshot.string(),
                         status.message());
}

/// Together: the disk is waited for once, not once for each.
void sync_paths(const std::vector<fs::path>& paths) {
  std::vector<std::future<void>> syncs;
  for (const fs::path& path : paths)
    syncs.push_back(std::async([&] { sync_path(path); }));  // here, where no thread is to be had
  for (std::future<void>& each : syncs) each.get();
}

/// Of commits that died; there is one writer at a time.
void remove_leftovers(const fs::path& directory) {
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    for (const char* begin : {kStaging, kDiscarded, kSalvage})
      if (entry.path().filename().string().starts_with(std::string(begin) + ".tmp"))
        leftovers.push_back(entry.path());
  for (const fs::path& each : leftovers) fs::remove_all(each);
}

void discard_old(const SnapshotList& snapshots) {
  std::size_t whole = 0;
  for (auto each = snapshots.rbegin(); each != snapshots.rend(); ++each) {
    if (whole == kSnapshotsKept)
      discard(each->second);
    else if (!damage_of(each->second, [](const fs::path&) {}))
      ++whole;
  }
}

}  // namespace

SnapshotList list_snapshots(const fs::path& directory) {
  SnapshotList found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const auto number = number_in(name);
    if (!number)
      throw Error(ExitCode::kBank, "'" + name + "' is no name of a snapshot", directory.string(),
                  "move it away");
    found[*number] = entry.path();
  }
  return found;
}

std::optional<fs::path> newest_whole_snapshot(const fs::path& directory,
                                              const std::function<void(const fs::path&)>& open) {
  // A writer may discard an old snapshot between our listing and our opening it; then there is a
  // newer one.
  for (int attempt = 0;; ++attempt) {
    std::optional<Error> first;
    bool is_outdated = false;
    const SnapshotList snapshots = list_snapshots(directory);
    for (auto each = snapshots.rbegin(); each != snapshots.rend() && !is_outdated; ++each) {
      const fs::path& snapshot = each->second;
      const auto damage = damage_of(snapshot, open);
      if (!damage) {
        if (first)
          logger("bank")->warn("{}; fell back to the newest whole snapshot, {}", first->what(),
                               snapshot.string());
        return snapshot;
      }
      is_outdated = attempt < kMostListings && !fs::exists(snapshot);
      if (!first) first = damage;
    }
    if (is_outdated) continue;
    if (first) throw Error(*first);
    return std::nullopt;
  }
}

std::optional<Error> damage_of(const fs::path& snapshot,
                               const std::function<void(const fs::path&)>& open) {
  try {
    check_seal(snapshot);
    open(snapshot);
    return std::nullopt;
  } catch (const Error& e) {
    if (is_lack_of_descriptors(e.what())) throw;
    return e;
  } catch (const fs::filesystem_error& e) {
    if (e.code() == std::errc::too_many_files_open) throw;
    return Error(ExitCode::kBank, "cannot be read: " + e.code().message(), snapshot.string());
  }
}

fs::path fresh_staging_directory(const fs::path& directory) {
  remove_leftovers(directory);
  return create_directory_beside(directory / kStaging);
}

void copy_database(const fs::path& from, const fs::path& to) {
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    const fs::path name = entry.path().filename();
    if (name == kSeal || name == "LOCK") continue;
    std::error_code status;
    const bool links = never_changes(name);
    if (links) fs::create_hard_link(entry.path(), to / name, status);
    if (!links || status)  // not every file system has links
      write_file_atomically(to / name, read_file(entry.path(), ExitCode::kBank));
  }
}

void seal(const fs::path& staged) {
  write_file_atomically(staged / kSeal, json_text(seal_of(staged), 2) + "\n");
  std::vector<fs::path> paths = {staged};
  for (const fs::directory_entry& entry : fs::directory_iterator(staged))
    if (!is_shared(entry)) paths.push_back(entry.path());
  sync_paths(paths);
}

void publish(const fs::path& staged, const fs::path& directory) {
  const SnapshotList existing = list_snapshots(directory);
  const std::uint64_t next = existing.empty() ? 1 : existing.rbegin()->first + 1;
  forget_unfinished(staged);  // before: who removes it must not meet it under its new name
  fs::rename(staged, directory / (std::string(kPrefix) + std::to_string(next)));
  sync_path(directory);
  discard_old(list_snapshots(directory));
}

}  // namespace aoe::bank
