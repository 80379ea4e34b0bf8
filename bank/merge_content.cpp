// Tested by tests/bank/merge_content_test.cpp.
#include "bank/merge_content.h"

#include <algorithm>
#include <tuple>

#include "bank/marker.h"
#include "base/error.h"

namespace aoe::bank {
namespace fs = std::filesystem;
namespace {

bool is_same_candidate(const Strategy& a, const Strategy& b) {
  return std::tie(a.format, a.impl, a.schedule, a.rewrite) ==
         std::tie(b.format, b.impl, b.schedule, b.rewrite);
}

bool names_the_same(const StrategySet& a, const StrategySet& b) {
  return std::ranges::equal(a.strategies, b.strategies, is_same_candidate);
}

}  // namespace

std::string to_text(const BankId& id) {
  return std::string(name(id.kind)) + "/" + id.soc_version;
}

std::map<BankId, fs::path> banks_at(const fs::path& path) {
  std::map<BankId, fs::path> banks;
  std::error_code status;
  const auto add = [&](const fs::path& directory, BankKind kind) {
    const auto marker = read_marker(directory);
    const std::string soc = marker ? marker->soc_version : directory.filename().string();
    banks[{kind, soc}] = directory;
  };
  if (fs::exists(path / "BANK", status)) {
    const bool is_graph = path.parent_path().filename() == name(BankKind::kGraph);
    add(path, is_graph ? BankKind::kGraph : BankKind::kOp);
    return banks;
  }
  for (const BankKind kind : {BankKind::kOp, BankKind::kGraph}) {
    const fs::path folder = path / name(kind);
    if (!fs::is_directory(folder, status)) continue;
    for (const fs::directory_entry& bank : fs::directory_iterator(folder))
      if (bank.is_directory()) add(bank.path(), kind);
  }
  if (banks.empty())
    throw Error(ExitCode::kBank, "there is no bank", path.string(),
                "name what TUNE_BANK_PATH names, one bank's directory, or an exported file");
  return banks;
}

std::map<BankId, BankContent> contents_at(const fs::path& path) {
  std::map<BankId, BankContent> contents;
  if (std::error_code status; fs::is_regular_file(path, status)) {
    BankContent content = read_bank_file(path);
    const BankId id{content.kind, content.soc_version};
    contents.emplace(id, std::move(content));
    return contents;
  }
  for (const auto& [id, directory] : banks_at(path)) {
    const KnowledgeBank bank(directory, {.soc_version = id.soc_version, .read_only = true});
    contents.emplace(id, content_of(bank, id.kind));
  }
  return contents;
}

bool is_better(const Strategy& a, const Strategy& b) {
  const auto rank = [](const Strategy& s) {
    const Measurement& m = s.measured;
    const bool is_paired = m.default_time_ns > 0 && m.time_ns > 0;
    const double gain = is_paired ? m.default_time_ns / m.time_ns : 0;
    return std::tuple(is_paired, gain, -m.time_ns, m.when_utc);
  };
  return rank(a) >= rank(b);
}

void merge_sets(const TaskKey& key, StrategySet& into, StrategySet from,
                std::vector<MergeConflict>* conflicts) {
  for (Strategy& added : from.strategies) {
    const auto there = std::ranges::find(into.strategies, added.format, &Strategy::format);
    if (there == into.strategies.end()) {
      into.strategies.push_back(std::move(added));
      continue;
    }
    const bool takes = is_better(added, *there) && !is_better(*there, added);
    if (conflicts != nullptr && !is_same_candidate(added, *there))
      conflicts->push_back({key, takes ? added : *there, takes ? *there : added});
    if (takes) *there = std::move(added);
  }
  std::ranges::stable_sort(into.strategies, {},
                           [](const Strategy& s) { return s.measured.time_ns; });
}

std::vector<TaskDifference> differences(const BankContent& left, const BankContent& right) {
  std::map<std::string, TaskDifference> by_key;
  for (const FileEntry& each : left.entries)
    by_key[each.entry.key.description] = {each.entry.key, each.entry.set, {}};
  for (const FileEntry& each : right.entries) {
    TaskDifference& task = by_key[each.entry.key.description];
    task.key = each.entry.key;
    task.right = each.entry.set;
  }
  std::vector<TaskDifference> different;
  for (auto& [description, task] : by_key)
    if (!names_the_same(task.left, task.right)) different.push_back(std::move(task));
  return different;
}

}  // namespace aoe::bank
