// What the reading and the writing side of KnowledgeBank share. Internal to bank/.
#pragma once

#include <filesystem>
#include <memory>
#include <shared_mutex>

#include "bank/encoding.h"
#include "bank/knowledge_bank.h"
#include "bank/rocks_store.h"
#include "base/error.h"

namespace aoe::bank {

inline constexpr const char* kSchemaKey = "schema";
inline constexpr const char* kRoofsKey = "roofs";  ///< JSON of Roofs; absent: not measured
inline constexpr const char* kSequenceKey =
    "record_sequence";  ///< records that were ever committed

struct KnowledgeBank::State {
  std::filesystem::path directory;
  BankOptions options;
  mutable std::shared_mutex mutex;
  std::shared_ptr<const RocksStore> store;  ///< nullptr: no snapshot yet

  std::shared_ptr<const RocksStore> current() const {
    const std::shared_lock lock(mutex);
    return store;
  }
  std::optional<StrategySet> find(const TaskKey& key, EntryPart part) const;
};

struct FilledTables {
  std::vector<Table> tables;
  std::uint64_t record_count = 0;  ///< one more than the largest number of a record
};

/// The newest whole snapshot; nullptr: no commit yet. Error(kBank).
std::shared_ptr<const RocksStore> open_newest(const std::filesystem::path& directory,
                                              const std::string& soc_version);

/// Whatever the file system says while a bank is worked on is an error of the bank.
template <typename Action>
auto as_bank_error(const std::filesystem::path& directory, const Action& action) {
  constexpr const char* kAdvice = "check permissions and free space";
  try {
    return action();
  } catch (const std::filesystem::filesystem_error& e) {
    const std::filesystem::path& where = e.path1().empty() ? directory : e.path1();
    throw Error(ExitCode::kBank, "bank cannot be used: " + e.code().message(), where.string(),
                kAdvice);
  } catch (const Error& e) {
    if (e.code() == ExitCode::kBank) throw;
    throw Error(ExitCode::kBank, e.what());
  }
}

/// 0 where there is none. Error(kBank): no number.
std::uint64_t meta_number(const RocksStore& store, const char* key,
                          const std::filesystem::path& directory);

/// Error(kBank): of a newer version of this program.
void require_known_schema(const RocksStore& store, const std::filesystem::path& directory);

/// Throws.
[[noreturn]] void reject_lost_snapshots(const std::filesystem::path& directory);

}  // namespace aoe::bank
