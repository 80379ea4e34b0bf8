// Which banks lie where, by which rule two of them become one (merge_banks.h does it), and where they differ.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bank/bank_file.h"

namespace aoe::bank {

/// Which bank a content is: of one root there is one for each.
struct BankId {
  BankKind kind = BankKind::kOp;
  std::string soc_version;
  auto operator<=>(const BankId&) const = default;
};
/// "op/x86_64-znver4-2t": also where it lies below a root.
std::string to_text(const BankId& id);

/// The directories of all banks at `path`: a root (what TUNE_BANK_PATH names), or the directory of one bank.
/// Error(kBank): neither of these.
std::map<BankId, std::filesystem::path> banks_at(const std::filesystem::path& path);

/// What is in all banks at `path`: a root (what TUNE_BANK_PATH names), the directory of one bank, or an exported file.
/// Error(kBank): none of these, or damaged.
std::map<BankId, BankContent> contents_at(const std::filesystem::path& path);

/// Which of two measurements of one task in one Format a merged bank believes: one that was measured side by side with its
/// default before one that was not; then the one that beats its default by more; then the faster, the later, and last `a`.
/// Times of two runs are not compared before that: the machine was not in the same state.
bool is_better(const Strategy& a, const Strategy& b);

/// Two banks that name different candidates for the same task and Format.
struct MergeConflict {
  TaskKey key;
  Strategy taken, left;
};

/// Adds what another bank has of the same task. Conflicts are noted where that is asked for.
void merge_sets(const TaskKey& key, StrategySet& into, StrategySet from,
                std::vector<MergeConflict>* conflicts);

/// A task of which two banks do not say the same. Empty: that bank has nothing of it.
struct TaskDifference {
  TaskKey key;
  StrategySet left, right;
};
/// Tasks by their key; those whose sets name the same candidates in the same order of Formats are left out.
std::vector<TaskDifference> differences(const BankContent& left, const BankContent& right);

}  // namespace aoe::bank
