// Tested by tests/bank/merge_content_test.cpp.
#include "bank/merge_content.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "bank/marker.h"
#include "bank/values.h"
#include "base/error.h"

namespace aoe::bank {
namespace fs = std::filesystem;
namespace {

BankContent content_at(const fs::path& directory, BankKind kind) {
  const auto marker = read_marker(directory);
  if (!marker) return {kind, directory.filename().string(), {}, {}};
  return content_of(
      KnowledgeBank(directory, {.soc_version = marker->soc_version, .read_only = true}), kind);
}

void add(std::map<BankId, BankContent>& contents, BankContent content) {
  const BankId id{content.kind, content.soc_version};
  contents[id] = std::move(content);
}

bool is_same_candidate(const Strategy& a, const Strategy& b) {
  return std::tie(a.format, a.impl, a.schedule, a.rewrite) ==
         std::tie(b.format, b.impl, b.schedule, b.rewrite);
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

/// The longer of two banks may have a million entries: found by hash, and none copied.
class EntryIndex {
 public:
  explicit EntryIndex(std::vector<FileEntry>& entries) : entries_(entries) {
    places_.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i)
      places_.emplace(entries[i].entry.key.digest(), i);
  }
  FileEntry* find(const TaskKey& key) {
    const auto found = places_.find(key.digest());
    return found == places_.end() ? nullptr : &entries_[found->second];
  }

 private:
  struct Hash {
    std::size_t operator()(const Digest128& digest) const { return digest.low; }
  };
  std::vector<FileEntry>& entries_;
  std::unordered_map<Digest128, std::size_t, Hash> places_;
};

std::string text_of(const NewRecord& record) {
  return digest_bytes(record.task.digest) + to_cbor(record_to_json(record.record));
}

bool names_the_same(const StrategySet& a, const StrategySet& b) {
  return std::ranges::equal(a.strategies, b.strategies, is_same_candidate);
}

}  // namespace

std::string to_text(const BankId& id) {
  return std::string(name(id.kind)) + "/" + id.soc_version;
}

std::map<BankId, BankContent> contents_at(const fs::path& path) {
  std::map<BankId, BankContent> contents;
  std::error_code status;
  if (fs::is_regular_file(path, status)) {
    add(contents, read_bank_file(path));
    return contents;
  }
  if (fs::exists(path / "BANK", status)) {
    const bool is_graph = path.parent_path().filename() == name(BankKind::kGraph);
    add(contents, content_at(path, is_graph ? BankKind::kGraph : BankKind::kOp));
    return contents;
  }
  for (const BankKind kind : {BankKind::kOp, BankKind::kGraph}) {
    const fs::path folder = path / name(kind);
    if (!fs::is_directory(folder, status)) continue;
    for (const fs::directory_entry& bank : fs::directory_iterator(folder))
      if (bank.is_directory()) add(contents, content_at(bank.path(), kind));
  }
  if (contents.empty())
    throw Error(ExitCode::kBank, "there is no bank", path.string(),
                "name what TUNE_BANK_PATH names, one bank's directory, or an exported file");
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

void merge_into(BankContent& into, BankContent from, std::vector<MergeConflict>& conflicts) {
  std::vector<FileEntry> added;
  EntryIndex known(into.entries);
  for (FileEntry& each : from.entries) {
    FileEntry* const there = known.find(each.entry.key);
    if (there == nullptr) {
      added.push_back(std::move(each));
      continue;
    }
    merge_sets(each.entry.key, there->entry.set, std::move(each.entry.set), &conflicts);
    merge_sets(each.entry.key, there->entry.unconfirmed, std::move(each.entry.unconfirmed),
               nullptr);
  }
  std::ranges::move(added, std::back_inserter(into.entries));
  std::unordered_set<std::string> records;
  if (!from.records.empty())
    for (const NewRecord& record : into.records) records.insert(text_of(record));
  for (NewRecord& record : from.records)
    if (records.insert(text_of(record)).second) into.records.push_back(std::move(record));
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
