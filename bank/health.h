// What is wrong with a bank, and what can be had back of it: `aoe_bank verify` and `repair`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"

namespace aoe::bank {

struct BankDamage {
  std::filesystem::path where;
  std::string what;
};

struct BankHealth {
  std::vector<BankDamage> damage;
  std::size_t snapshots = 0;
  std::size_t entries = 0;  ///< of the newest whole snapshot
  std::size_t records = 0;
  bool has_whole_snapshot = false;
};

/// Reads every byte of a bank: marker, seals, blocks of tables, and whether each value is what its key says. Writes nothing.
/// Damage is an answer, no Error. Error(kBank): there is no bank, or it may not be read.
BankHealth examine(const std::filesystem::path& directory);

struct BankRepair {
  std::size_t entries = 0;  ///< that only damaged snapshots had
  std::size_t records = 0;
  std::vector<std::string> lost;                   ///< what could not be read, in words
  std::vector<std::filesystem::path> moved_aside;  ///< damaged snapshots, as "damaged-<n>"
};

/// Makes a bank whole again: damaged snapshots are moved aside, not removed, and what can still be read of those that are
/// newer than the newest whole one is committed to the bank. A marker that is damaged is written anew, for
/// `options.soc_version`. It may be called again when it was cut short. Error(kBank).
BankRepair repair(const std::filesystem::path& directory, const BankOptions& options);

}  // namespace aoe::bank
