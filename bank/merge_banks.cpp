// Tested by tests/bank/merge_banks_test.cpp.
#include "bank/merge_banks.h"

#include <algorithm>
#include <future>
#include <set>
#include <thread>

#include "bank/bank_state.h"
#include "bank/values.h"

namespace aoe::bank {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kDigestBytes = 16;
constexpr unsigned kFirstBytes = 256;  ///< keys are cut into ranges by their first byte

/// Of an exported file, whose order is any.
class ListCursor final : public ValueCursor {
 public:
  using List = std::map<std::string, std::string, std::less<>>;
  ListCursor(const List& list, std::string_view first)
      : at_(list.lower_bound(first)), end_(list.end()) {}
  bool is_at_end() const override { return at_ == end_; }
  std::string_view key() const override { return at_->first; }
  std::string_view value() const override { return at_->second; }
  void next() override { ++at_; }

 private:
  List::const_iterator at_, end_;
};

/// A bank that is merged: a snapshot, or what an exported file holds.
class MergeSource {
 public:
  MergeSource(fs::path directory, const std::string& soc_version)
      : path_(std::move(directory)), store_(open_newest(path_, soc_version)) {
    if (store_) record_count_ = meta_number(*store_, kSequenceKey, path_);
  }
  MergeSource(fs::path file, const BankContent& content) : path_(std::move(file)) {
    for (const FileEntry& each : content.entries)
      entries_[digest_bytes(each.entry.key.digest())] = encode(each.entry);
    for (const NewRecord& each : content.records) {
      std::string key = digest_bytes(each.task.digest);
      append_big_endian(key, record_count_++);
      records_[std::move(key)] = encode(each.record);
    }
  }

  std::unique_ptr<ValueCursor> cursor(Family family, std::string_view first) const {
    if (store_) return store_->cursor(family, first);
    return std::make_unique<ListCursor>(family == Family::kStrategy ? entries_ : records_, first);
  }
  std::uint64_t record_count() const { return record_count_; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  std::shared_ptr<const RocksStore> store_;  ///< nullptr: a file, or an empty bank
  ListCursor::List entries_, records_;
  std::uint64_t record_count_ = 0;
};

/// The keys that one thread merges, of all sources; the tables that it makes.
class RangeMerger {
 public:
  RangeMerger(const std::vector<MergeSource>& sources, const fs::path& directory, unsigned first,
              unsigned end)
      : sources_(sources),
        first_(1, static_cast<char>(first)),
        end_(end < kFirstBytes ? std::string(1, static_cast<char>(end)) : ""),
        strategies_path_(directory / ("strategies-" + std::to_string(first))),
        records_path_(directory / ("records-" + std::to_string(first))) {}

  void run() {
    TableWriter strategies(strategies_path_);
    merge(Family::kStrategy, [&](const std::string& digest, const Group& group) {
      if (const std::string value = merged_entry(group); !value.empty())
        strategies.put(digest, value);
    });
    TableWriter records(records_path_);
    merge(Family::kRecord, [&](const std::string& digest, const Group& group) {
      put_records(digest, group, records);
    });
    merged_.tasks = strategies.count();
    merged_.measurements = records.count();
    take(strategies, {Family::kStrategy, strategies_path_});
    take(records, {Family::kRecord, records_path_});
  }

  const std::vector<Table>& tables() const { return tables_; }
  MergedBank& merged() { return merged_; }

 private:
  using Cursors = std::vector<std::unique_ptr<ValueCursor>>;
  /// What each source has of one task: its number, and keys and values.
  struct Part {
    std::size_t source;
    std::vector<std::pair<std::string, std::string>> values;
  };
  using Group = std::vector<Part>;

  bool is_done(const ValueCursor& cursor) const {
    return cursor.is_at_end() || (!end_.empty() && cursor.key() >= end_);
  }

  /// Calls `take` with task after task.
  template <typename Take>
  void merge(Family family, const Take& take) {
    Cursors cursors;
    for (const MergeSource& source : sources_) cursors.push_back(source.cursor(family, first_));
    Group group;
    while (true) {
      std::string digest;
      for (const auto& each : cursors)
        if (!is_done(*each))
          if (const auto its = each->key().substr(0, kDigestBytes); digest.empty() || its < digest)
            digest = its;
      if (digest.empty()) return;
      group.clear();
      for (std::size_t i = 0; i < cursors.size(); ++i) collect(*cursors[i], i, digest, group);
      take(digest, group);
    }
  }

  void collect(ValueCursor& cursor, std::size_t source, const std::string& digest, Group& group) {
    for (bool is_first = true; !is_done(cursor) && cursor.key().starts_with(digest);
         cursor.next()) {
      if (std::exchange(is_first, false)) group.push_back({source, {}});
      group.back().values.emplace_back(cursor.key(), cursor.value());
    }
  }

  /// Empty: nobody has a strategy of the task.
  std::string merged_entry(const Group& group) {
    const std::string& first = group.front().values.front().second;
    const bool all_say_so = std::ranges::all_of(
        group, [&](const Part& part) { return part.values.front().second == first; });
    if (all_say_so && is_encoded(first))
      return is_withdrawn(first, sources_[group.front().source].path()) ? "" : first;
    std::optional<BankEntry> into;
    for (const Part& part : group) {
      auto from = entry_from(part.values.front().second, sources_[part.source].path());
      if (!from) continue;
      if (!into) {
        into = std::move(from);
        continue;
      }
      merge_sets(into->key, into->set, std::move(from->set), &merged_.conflicts);
      merge_sets(into->key, into->unconfirmed, std::move(from->unconfirmed), nullptr);
    }
    return into && !into->is_empty() ? encode(*into) : "";
  }

  /// In the form that equal measurements share.
  std::string canonical(const std::string& value, std::size_t source) const {
    if (is_encoded(value)) return value;
    const auto record = record_from(value, sources_[source].path());
    return record ? encode(*record) : "";
  }

  void put_records(const std::string& digest, const Group& group, TableWriter& to) const {
    std::set<std::string> known;
    for (const Part& part : group) {
      const bool is_first = &part == &group.front();
      for (const auto& [key, stored] : part.values) {
        std::string value = canonical(stored, part.source);
        if (value.empty() || (!is_first && known.contains(value))) continue;
        std::string number = digest;
        append_big_endian(number, record_number(key) + records_before(part.source));
        to.put(number, value);
        if (group.size() > 1) known.insert(std::move(value));
      }
    }
  }

  /// Records of a source are numbered behind those of the ones before it.
  std::uint64_t records_before(std::size_t source) const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < source; ++i) count += sources_[i].record_count();
    return count;
  }

  void take(TableWriter& made, Table table) {
    if (made.count() == 0)
      return;  // a table must not be empty; the file goes with the others that nobody needs
    made.finish();
    tables_.push_back(std::move(table));
  }

  const std::vector<MergeSource>& sources_;
  std::string first_, end_;  ///< `end_` is empty for the last range
  fs::path strategies_path_, records_path_;
  std::vector<Table> tables_;
  MergedBank merged_;
};

MergedBank merge_one(const std::vector<MergeSource>& sources, const fs::path& directory,
                     const std::string& soc_version) {
  MergedBank merged;
  const auto write = [&](const fs::path& staged) {
    const unsigned ranges = std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
    std::vector<RangeMerger> mergers;
    for (unsigned i = 0; i < ranges; ++i)
      mergers.emplace_back(sources, staged, i * kFirstBytes / ranges,
                           (i + 1) * kFirstBytes / ranges);
    std::vector<std::future<void>> running;
    for (RangeMerger& each : mergers) running.push_back(std::async([&each] { each.run(); }));
    for (std::future<void>& each : running) each.get();
    FilledTables filled;
    for (RangeMerger& each : mergers) {
      filled.tables.insert(filled.tables.end(), each.tables().begin(), each.tables().end());
      merged.tasks += each.merged().tasks;
      merged.measurements += each.merged().measurements;
      std::ranges::move(each.merged().conflicts, std::back_inserter(merged.conflicts));
    }
    for (const MergeSource& source : sources) filled.record_count += source.record_count();
    return filled;
  };
  KnowledgeBank(directory, {.soc_version = soc_version}).fill(write);
  return merged;
}

}  // namespace

std::map<BankId, MergedBank> merge_banks(const std::vector<fs::path>& paths, const fs::path& root) {
  std::map<BankId, std::vector<MergeSource>> sources;
  for (const fs::path& path : paths) {
    if (std::error_code status; fs::is_regular_file(path, status)) {
      for (const auto& [id, content] : contents_at(path)) sources[id].emplace_back(path, content);
    } else {
      for (const auto& [id, directory] : banks_at(path))
        sources[id].emplace_back(directory, id.soc_version);
    }
  }
  std::map<BankId, MergedBank> merged;
  for (const auto& [id, each] : sources)
    merged[id] = merge_one(each, root / to_text(id), id.soc_version);
  return merged;
}

}  // namespace aoe::bank
