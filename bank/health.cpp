// Looking at all of a bank, and salvage of what a damaged one still has. Tested by tests/bank/upkeep_test.cpp.
#include "bank/health.h"

#include <map>
#include <nlohmann/json.hpp>

#include "bank/bank_file.h"
#include "bank/bank_state.h"
#include "bank/file_lock.h"
#include "bank/marker.h"
#include "bank/snapshots.h"
#include "bank/values.h"
#include "base/file.h"
#include "base/new_file.h"

namespace aoe::bank {
namespace fs = std::filesystem;
namespace {

constexpr const char* kAside = "damaged-";

/// What a database holds, as far as it can be read.
struct Salvage {
  std::vector<BankEntry> entries;
  std::vector<NewRecord> records;
  std::vector<std::string> damage;
};

void salvage_entry(std::string_view key, std::string_view value, const fs::path& where,
                   const std::string& soc_version, Salvage& found) {
  auto entry = entry_from(value, where);
  if (!entry) return;  // of another schema: a miss for whoever asks, no damage
  if (digest_bytes(entry->key.digest()) != key)
    found.damage.emplace_back("an entry lies under the key of another task");
  else if (entry->key.soc_version != soc_version)
    found.damage.push_back("an entry is of soc_version " + entry->key.soc_version);
  else if (!entry->is_empty())
    found.entries.push_back(std::move(*entry));
}

/// Calls `take` with each value; damage of a value or of a block of the table is noted.
void salvage_family(const RocksStore& store, Family family, Salvage& found,
                    const std::function<void(std::string_view, std::string_view)>& take) {
  try {
    store.scan(family, "", [&](std::string_view key, std::string_view value) {
      try {
        take(key, value);
      } catch (const Error& e) {
        found.damage.emplace_back(e.what());
      }
      return true;
    });
  } catch (const Error& e) {
    found.damage.emplace_back(e.what());
  }
}

Salvage salvage(const RocksStore& store, const fs::path& where, const std::string& soc_version) {
  Salvage found;
  salvage_family(store, Family::kStrategy, found,
                 [&](std::string_view key, std::string_view value) {
                   salvage_entry(key, value, where, soc_version, found);
                 });
  std::map<std::uint64_t, NewRecord> by_number;
  salvage_family(store, Family::kRecord, found, [&](std::string_view key, std::string_view value) {
    if (auto record = record_from(value, where))
      by_number.emplace(record_number(key), NewRecord{task_of(key), std::move(*record)});
  });
  for (auto& [number, record] : by_number) found.records.push_back(std::move(record));
  return found;
}

/// A seal vouches for tables by their sizes alone; this reads them.
std::optional<Error> damage_in(const fs::path& snapshot) {
  return damage_of(snapshot, [](const fs::path& directory) {
    RocksStore::open_snapshot(directory).check_tables();
  });
}

/// Of a copy that RocksDB has repaired: the original stays as it is.
Salvage salvage_damaged(const fs::path& snapshot, const std::string& soc_version) {
  const fs::path copy = create_directory_beside(snapshot.parent_path() / "salvage");
  Salvage found;
  try {
    copy_database(snapshot, copy);
    found = salvage(RocksStore::repair(copy), snapshot, soc_version);
  } catch (const Error& e) {
    found.damage.emplace_back(e.what());
  }
  std::error_code ignored;
  fs::remove_all(copy, ignored);
  forget_unfinished(copy);
  return found;
}

fs::path move_aside(const fs::path& snapshot) {
  const std::string name = snapshot.filename().string();
  const fs::path aside = snapshot.parent_path() / (kAside + name.substr(name.find('-') + 1));
  fs::rename(snapshot, aside);
  return aside;
}

/// Snapshots that were moved aside, now or before, by their numbers.
using Aside = std::map<std::uint64_t, fs::path>;

Aside list_aside(const fs::path& directory) {
  Aside found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kAside))
      found.emplace(std::strtoull(name.c_str() + std::string_view(kAside).size(), nullptr, 10),
                    entry.path());
  }
  return found;
}

/// Entries of `found` that the bank does not have, and records that are not there.
void commit_missing(KnowledgeBank& bank, Salvage found, BankRepair& repaired) {
  BankContent missing{.soc_version = bank.soc_version(), .records = std::move(found.records)};
  for (BankEntry& entry : found.entries)
    if (!bank.find(entry.key) && !bank.find_unconfirmed(entry.key))
      missing.entries.push_back({std::move(entry)});
  const Commit commit = commit_of(missing, bank);
  repaired.entries += missing.entries.size();
  repaired.records += commit.records.size();
  if (!commit.is_empty()) bank.commit(commit);
}

/// The marker as it must be for a commit to begin: there, and "new" where no snapshot is left.
void mend_marker(const fs::path& directory, const std::string& soc_version) {
  Marker marker{.soc_version = soc_version};
  try {
    if (const auto stored = read_marker(directory)) marker = *stored;
  } catch (const Error&) {  // damaged: that is why we are here
  }
  if (marker.soc_version != soc_version)
    throw Error(ExitCode::kBank, "bank is for soc_version " + marker.soc_version,
                directory.string(), "name it with --soc_version");
  if (list_snapshots(directory).empty()) marker.is_new = true;
  write_marker(directory, marker);
}

}  // namespace

BankHealth examine(const fs::path& directory) {
  BankHealth health;
  std::string soc_version = directory.filename().string();
  bool is_new = false;
  try {
    const auto marker = read_marker(directory);
    if (!marker)
      throw Error(ExitCode::kUsage, "there is no bank", directory.string(),
                  "name another with --bank, --job_type or --soc_version");
    soc_version = marker->soc_version;
    is_new = marker->is_new;
  } catch (const Error& e) {
    if (e.code() == ExitCode::kUsage) throw Error(ExitCode::kBank, e.what());
    if (is_lack_of_descriptors(e.what())) throw;
    health.damage.push_back({directory, e.what()});
    if (!fs::is_directory(directory)) return health;
  }
  const SnapshotList snapshots =
      as_bank_error(directory, [&] { return list_snapshots(directory); });
  health.snapshots = snapshots.size();
  for (auto each = snapshots.rbegin(); each != snapshots.rend(); ++each) {
    if (const auto damage = damage_in(each->second)) {
      health.damage.push_back({each->second, damage->what()});
      continue;
    }
    Salvage found = salvage(RocksStore::open_snapshot(each->second), each->second, soc_version);
    for (std::string& damage : found.damage)
      health.damage.push_back({each->second, std::move(damage)});
    if (!health.has_whole_snapshot) {
      health.entries = found.entries.size();
      health.records = found.records.size();
    }
    health.has_whole_snapshot = true;
  }
  if (!health.has_whole_snapshot && health.damage.empty() && !is_new)
    health.damage.push_back({directory, "it has no snapshot"});
  return health;
}

BankRepair repair(const fs::path& directory, const BankOptions& options) {
  BankRepair repaired;
  as_bank_error(directory, [&] {
    const FileLock lock(directory / "lock", options.lock_wait);
    for (const auto& [number, snapshot] : list_snapshots(directory))
      if (damage_in(snapshot)) repaired.moved_aside.push_back(move_aside(snapshot));
    mend_marker(directory, options.soc_version);
  });
  const SnapshotList whole = list_snapshots(directory);
  const std::uint64_t newest = whole.empty() ? 0 : whole.rbegin()->first;
  KnowledgeBank bank(directory, options);
  // The newest first: what an older one says of the same task is out of date.
  const Aside aside = list_aside(directory);
  for (auto each = aside.rbegin(); each != aside.rend() && each->first > newest; ++each) {
    Salvage found = salvage_damaged(each->second, options.soc_version);
    repaired.lost.insert(repaired.lost.end(), found.damage.begin(), found.damage.end());
    commit_missing(bank, std::move(found), repaired);
  }
  return repaired;
}

}  // namespace aoe::bank
