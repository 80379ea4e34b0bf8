// The bank's reading side; commits are in bank_writing.cpp. See the header for the layout.
#include "bank/knowledge_bank.h"

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "bank/bank_state.h"
#include "bank/marker.h"
#include "bank/snapshots.h"
#include "bank/values.h"
#include "base/json_text.h"
#include "base/words.h"

namespace aoe::bank {
namespace fs = std::filesystem;
namespace {

std::shared_ptr<const RocksStore> open_newest_snapshot(const fs::path& directory) {
  std::shared_ptr<const RocksStore> store;
  newest_whole_snapshot(directory, [&](const fs::path& snapshot) {
    store = std::make_shared<const RocksStore>(RocksStore::open_snapshot(snapshot));
  });
  return store;
}

}  // namespace

std::uint64_t meta_number(const RocksStore& store, const char* key, const fs::path& directory) {
  const auto text = store.get(Family::kMeta, key);
  return text ? number_from(*text, directory) : 0;
}

void require_known_schema(const RocksStore& store, const fs::path& directory) {
  const std::uint64_t schema = meta_number(store, kSchemaKey, directory);
  if (schema > kSchema)
    throw Error(ExitCode::kBank,
                "bank was written by a newer version (schema " + std::to_string(schema) +
                    ", this one knows " + std::to_string(kSchema) + ")",
                directory.string(), "upgrade this program");
}

void reject_lost_snapshots(const fs::path& directory) {
  throw Error(ExitCode::kBank, "bank is damaged (its snapshots are gone)", directory.string(),
              "restore a backup, or move the bank away and tune again");
}

std::shared_ptr<const RocksStore> open_newest(const fs::path& directory,
                                              const std::string& soc_version) {
  return as_bank_error(directory, [&]() -> std::shared_ptr<const RocksStore> {
    const auto marker = read_marker(directory, soc_version);
    if (!marker) return nullptr;
    auto opened = open_newest_snapshot(directory);
    // Version 1 did not say so, and may have been killed in its first commit.
    if (!opened && !marker->is_new && marker->layout > 1) reject_lost_snapshots(directory);
    if (opened) require_known_schema(*opened, directory);
    return opened;
  });
}

KnowledgeBank::KnowledgeBank(fs::path directory, BankOptions options)
    : state_(std::make_unique<State>()) {
  state_->directory = std::move(directory);
  state_->options = std::move(options);
  refresh();
}

KnowledgeBank::~KnowledgeBank() = default;

void KnowledgeBank::refresh() {
  std::shared_ptr<const RocksStore> opened =
      open_newest(state_->directory, state_->options.soc_version);
  const std::unique_lock lock(state_->mutex);
  state_->store = std::move(opened);
}

std::optional<StrategySet> KnowledgeBank::State::find(const TaskKey& key, EntryPart part) const {
  if (key.soc_version != options.soc_version) return std::nullopt;
  const DigestBytes digest(key.digest());
  std::optional<StrategySet> found;
  const std::shared_lock lock(mutex);  // a reference count for each lookup would cost more
  // The digest finds, the text decides.
  if (store)
    store->read(Family::kStrategy, digest.view(), [&](std::string_view bytes) {
      found = strategies_from(bytes, key, part, directory);
    });
  return found && !found->strategies.empty() ? std::move(found) : std::nullopt;
}

std::optional<StrategySet> KnowledgeBank::find(const TaskKey& key) const {
  return state_->find(key, EntryPart::kConfirmed);
}

std::optional<StrategySet> KnowledgeBank::find_unconfirmed(const TaskKey& key) const {
  return state_->find(key, EntryPart::kUnconfirmed);
}

bool KnowledgeBank::is_empty() const {
  return state_->current() == nullptr;
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
      if (entry && !entry->is_empty()) list.push_back(std::move(*entry));
      return true;
    });
  return list;
}

void KnowledgeBank::visit(const std::function<void(const BankEntry&)>& take) const {
  if (const auto store = state_->current())
    store->scan(Family::kStrategy, "", [&](std::string_view, std::string_view value) {
      const auto entry = entry_from(value, state_->directory);
      if (entry && !entry->set.strategies.empty()) take(*entry);
      return true;
    });
}

std::vector<Record> KnowledgeBank::records(const TaskDigest& task) const {
  std::vector<Record> list;
  if (const auto store = state_->current())
    store->scan(Family::kRecord, digest_bytes(task.digest),
                [&](std::string_view, std::string_view value) {
                  if (auto record = record_from(value, state_->directory))
                    list.push_back(std::move(*record));
                  return true;
                });
  return list;
}

std::vector<NewRecord> KnowledgeBank::all_records() const {
  std::map<std::uint64_t, NewRecord> by_number;
  if (const auto store = state_->current())
    store->scan(Family::kRecord, "", [&](std::string_view key, std::string_view value) {
      auto record = record_from(value, state_->directory);
      if (record)
        by_number.emplace(record_number(key), NewRecord{task_of(key), std::move(*record)});
      return true;
    });
  std::vector<NewRecord> list;
  for (auto& [number, record] : by_number) list.push_back(std::move(record));
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
  const std::uint64_t count = meta_number(*store, kSequenceKey, state_->directory);
  const std::uint64_t first = count > most ? count - most : 0;
  store->scan(Family::kRecord, "", [&](std::string_view key, std::string_view value) {
    if (record_number(key) < first) return true;
    if (auto record = record_from(value, state_->directory)) list.push_back(std::move(*record));
    return true;
  });
  return list;
}

const std::string& KnowledgeBank::soc_version() const {
  return state_->options.soc_version;
}

const fs::path& KnowledgeBank::directory() const {
  return state_->directory;
}

std::optional<Roofs> KnowledgeBank::roofs() const {
  if (state_->options.read_only) return std::nullopt;  // built in: measured where that was made
  const auto store = state_->current();
  const auto text = store ? store->get(Family::kMeta, kRoofsKey) : std::nullopt;
  if (!text) return std::nullopt;
  const nlohmann::json kept = json_or_discarded(*text);
  const auto number = [&](const char* key) {
    const double value = kept.is_object() && kept.contains(key) && kept[key].is_number()
                             ? kept[key].get<double>()
                             : 0;
    if (!(value > 0))
      throw Error(ExitCode::kBank, "bank is damaged (roofs)", state_->directory.string(),
                  "aoe_bank verify --fix");
    return value;
  };
  return Roofs{number("peak_gflops"), number("memory_gb_s"), kept.value("when_utc", std::string())};
}

std::optional<StrategySet> LayeredSource::find(const TaskKey& key) const {
  for (const StrategySource* source : sources_)
    if (auto set = source->find(key)) return set;
  return std::nullopt;
}

bool LayeredSource::is_empty() const {
  return std::ranges::all_of(sources_, &StrategySource::is_empty);
}

std::optional<Roofs> LayeredSource::roofs() const {
  for (const StrategySource* source : sources_)
    if (auto roofs = source->roofs()) return roofs;
  return std::nullopt;
}

std::string LayeredSource::description() const {
  return sources_.empty() ? "none" : joined(sources_, " over ", &StrategySource::description);
}

}  // namespace aoe::bank
