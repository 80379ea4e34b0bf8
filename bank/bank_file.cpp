// JSON lines of a bank, written at once and read with distrust.
#include "bank/bank_file.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "bank/values.h"
#include "bank/zstd_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/nesting.h"

namespace aoe::bank {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

constexpr const char* kKind = "aoe knowledge bank export";
constexpr int kVersion = 1;
constexpr std::size_t kMostFileBytes = std::size_t{1} << 30;
constexpr std::size_t kMostTextBytes = std::size_t{4} << 30;
constexpr std::size_t kMostLineBytes = std::size_t{1} << 20;

json header_of(const BankContent& content) {
  return {{"kind", kKind},
          {"version", kVersion},
          {"bank", name(content.kind)},
          {"soc_version", content.soc_version},
          {"entries", content.entries.size()},
          {"records", content.records.size()}};
}

/// A damaged or hostile line throws std::runtime_error or json::exception with the cause.
class Reader {
 public:
  void take(std::string_view piece) {
    for (std::size_t end; (end = piece.find('\n')) != std::string_view::npos;) {
      add(piece.substr(0, end));
      parse_line();
      piece.remove_prefix(end + 1);
    }
    add(piece);
  }

  BankContent finish() {
    if (!text_.empty()) throw std::runtime_error("does not end with a whole line");
    if (!header_.is_object()) throw std::runtime_error("is empty");
    if (header_.at("entries") != content_.entries.size() ||
        header_.at("records") != content_.records.size())
      throw std::runtime_error("has not as many entries and records as it says");
    return std::move(content_);
  }

  std::size_t line() const { return line_; }

 private:
  void add(std::string_view piece) {
    if (text_.size() + piece.size() > kMostLineBytes) {
      ++line_;
      throw std::runtime_error("the line is too long");
    }
    text_ += piece;
  }

  void parse_line() {
    ++line_;
    if (!nests_little_json(text_)) throw std::runtime_error("the line is nested too deeply");
    const json value = parse_json(text_);
    text_.clear();
    if (!value.is_object()) throw std::runtime_error("the line is no JSON object");
    if (line_ == 1)
      take_header(value);
    else if (const auto entry = value.find("entry"); entry != value.end())
      take_entry(*entry);
    else
      take_record(value.at("record"));
  }

  void take_header(const json& value) {
    if (value.value("kind", json()) != kKind) throw std::runtime_error("is no export of a bank");
    if (value.at("version") != kVersion)
      throw std::runtime_error("has version " + json_text(value.at("version")) +
                               ", this program knows " + std::to_string(kVersion));
    const json& kind = value.at("bank");
    if (kind != name(BankKind::kOp) && kind != name(BankKind::kGraph))
      throw std::runtime_error("is of a bank of an unknown kind, " + json_text(kind));
    content_.kind = kind == name(BankKind::kOp) ? BankKind::kOp : BankKind::kGraph;
    content_.soc_version = value.at("soc_version").get<std::string>();
    header_ = value;
  }

  void take_entry(const json& value) {
    auto entry = entry_from_json(value);
    if (!entry) throw std::runtime_error("the entry has an unknown schema");
    if (entry->key.soc_version != content_.soc_version)
      throw std::runtime_error("the entry is of another soc_version than the file");
    // What looks at descriptions takes them for objects.
    if (!parse_json(entry->key.description).is_object())
      throw std::runtime_error("the entry's description is no JSON object");
    content_.entries.push_back({std::move(*entry), value.value("replace", false)});
  }

  void take_record(const json& value) {
    const auto task = digest_from_hex(value.at("task").get<std::string>());
    auto record = record_from_json(value);
    if (!task || !record) throw std::runtime_error("the record has an unknown schema or task");
    content_.records.push_back({TaskDigest(*task), std::move(*record)});
  }

  std::string text_;  ///< of the line that is not whole yet
  std::size_t line_ = 0;
  json header_;
  BankContent content_;
};

}  // namespace

BankContent content_of(const KnowledgeBank& bank, BankKind kind) {
  BankContent content{kind, bank.soc_version(), {}, bank.all_records()};
  for (BankEntry& entry : bank.entries()) content.entries.push_back({std::move(entry)});
  return content;
}

BankContent content_of(const std::vector<Commit>& commits, BankKind kind,
                       const std::string& soc_version) {
  BankContent content{kind, soc_version, {}, {}};
  std::map<std::string, FileEntry> entries;
  const auto entry_of = [&](const TaskKey& key) -> FileEntry& {
    return entries.try_emplace(key.description, FileEntry{{.key = key}}).first->second;
  };
  for (const Commit& commit : commits) {
    for (const TaskKey& key : commit.withdrawn) entry_of(key) = {{.key = key}, true};
    for (const TaskKey& key : commit.unconfirmed_withdrawn) entry_of(key).entry.unconfirmed = {};
    for (const NewStrategy& added : commit.strategies) {
      FileEntry& entry = entry_of(added.key);
      entry.replace |= added.replace;
      merge(added.is_confirmed ? entry.entry.set : entry.entry.unconfirmed, added);
    }
    content.records.insert(content.records.end(), commit.records.begin(), commit.records.end());
  }
  for (auto& [description, entry] : entries)
    if (!entry.entry.is_empty()) content.entries.push_back(std::move(entry));
  return content;
}

void write_bank_file(const fs::path& path, const BankContent& content) {
  std::string text;
  const auto add = [&](const json& value) {
    text += json_text(value, -1, BadUtf8::kReplaced) + "\n";
  };
  add(header_of(content));
  for (const FileEntry& each : content.entries) {
    json value = entry_to_json(each.entry);
    if (each.replace) value["replace"] = true;
    add({{"entry", std::move(value)}});
  }
  for (const NewRecord& each : content.records) {
    json value = record_to_json(each.record);
    value["task"] = to_hex(each.task.digest);
    add({{"record", std::move(value)}});
  }
  write_file_atomically(path, compress_text(text), true);
}

BankContent read_bank_file(const fs::path& path) {
  std::error_code status;
  if (const auto size = fs::file_size(path, status); !status && size > kMostFileBytes)
    throw Error(ExitCode::kBank, "is too large to be an export of a bank", path.string());
  const std::string bytes = read_file(path, ExitCode::kBank);
  Reader reader;
  try {
    decompress_text(bytes, kMostTextBytes, [&](std::string_view piece) { reader.take(piece); });
    return reader.finish();
  } catch (const std::runtime_error& e) {
    throw Error(ExitCode::kBank, e.what(), path.string(), "export the bank again");
  } catch (const json::exception& e) {
    throw Error(ExitCode::kBank,
                "line " + std::to_string(reader.line()) + " is damaged (" + e.what() + ")",
                path.string(), "export the bank again");
  }
}

Commit commit_of(const BankContent& content, const KnowledgeBank& bank) {
  Commit commit;
  for (const FileEntry& each : content.entries) {
    const BankEntry& entry = each.entry;
    if (each.replace && !entry.set.strategies.empty()) commit.withdrawn.push_back(entry.key);
    for (const Strategy& strategy : entry.set.strategies)
      commit.strategies.push_back({entry.key, strategy, each.replace});
    for (const Strategy& strategy : entry.unconfirmed.strategies)
      commit.strategies.push_back({entry.key, strategy, each.replace, false});
  }
  std::map<Digest128, std::set<std::string>> known;
  for (const NewRecord& record : content.records) {
    const auto [there, is_new] = known.try_emplace(record.task.digest);
    if (is_new)
      for (const Record& stored : bank.records(record.task)) there->second.insert(encode(stored));
    if (there->second.insert(encode(record.record)).second) commit.records.push_back(record);
  }
  return commit;
}

}  // namespace aoe::bank
