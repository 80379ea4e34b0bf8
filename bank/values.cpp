// JSON, CBOR and keys of what the bank stores.
#include "bank/values.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/nesting.h"
#include "base/to_number.h"

namespace aoe::bank {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

bool has_our_schema(const json& value) {
  return value.at("schema") == kJsonSchema;
}

[[noreturn]] void reject_value(const fs::path& directory, const std::string& cause) {
  throw Error(ExitCode::kBank, "bank holds a damaged value (" + cause + ")", directory.string(),
              "restore a backup, or move the bank away and tune again");
}

/// 0 where the key is too short.
std::uint64_t read_big_endian(std::string_view key, std::size_t at) {
  if (key.size() < at + sizeof(std::uint64_t)) return 0;
  std::uint64_t value = 0;
  for (const char byte : key.substr(at, sizeof value))
    value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

auto decode(const fs::path& directory, const auto& action) {
  try {
    return action();
  } catch (const DamagedBytes& e) {
    reject_value(directory, e.what());
  }
}

/// Of schema 1.
template <typename Parse>
auto parse_cbor(std::string_view bytes, const fs::path& directory, const Parse& parse) {
  json value;
  if (nests_little_cbor(bytes)) value = cbor_or_discarded(bytes);
  if (!value.is_object()) reject_value(directory, "no CBOR");
  try {
    return parse(value);
  } catch (const json::exception& e) {
    reject_value(directory, e.what());
  }
}

}  // namespace

json entry_to_json(const BankEntry& entry) {
  json value = {{"schema", kJsonSchema},
                {"description", entry.key.description},
                {"soc_version", entry.key.soc_version},
                {"strategies", to_json(entry.set)}};
  if (!entry.unconfirmed.strategies.empty()) value["unconfirmed"] = to_json(entry.unconfirmed);
  return value;
}

std::optional<BankEntry> entry_from_json(const json& value) {
  if (!has_our_schema(value)) {
    logger("bank")->warn("an entry of schema {} is left out", json_text(value.at("schema")));
    return std::nullopt;
  }
  BankEntry entry{{value.at("description"), value.at("soc_version")},
                  strategy_set_from_json(value.at("strategies"))};
  if (const auto unconfirmed = value.find("unconfirmed"); unconfirmed != value.end())
    entry.unconfirmed = strategy_set_from_json(*unconfirmed);
  return entry;
}

json record_to_json(const Record& record) {
  json features = json::object();
  for (const auto& [name, value] : record.features) features[name] = value;
  return {{"schema", kJsonSchema},   {"strategy", to_json(record.strategy)},
          {"status", record.status}, {"detail", record.detail},
          {"seed", record.seed},     {"features", features}};
}

std::optional<Record> record_from_json(const json& value) {
  if (!has_our_schema(value)) return std::nullopt;
  Record record{strategy_from_json(value.at("strategy")), value.value("status", ""),
                value.value("detail", ""), value.value("seed", std::uint64_t{0})};
  if (const auto features = value.find("features"); features != value.end())
    for (const auto& [name, number] : features->items())
      record.features.emplace_back(name, number.get<double>());
  return record;
}

std::optional<BankEntry> entry_from(std::string_view bytes, const fs::path& directory) {
  if (!is_encoded(bytes)) return parse_cbor(bytes, directory, entry_from_json);
  return decode(directory, [&] { return decode_entry(bytes); });
}

std::optional<Record> record_from(std::string_view bytes, const fs::path& directory) {
  if (!is_encoded(bytes)) return parse_cbor(bytes, directory, record_from_json);
  return decode(directory, [&] { return decode_record(bytes); });
}

bool is_withdrawn(std::string_view bytes, const fs::path& directory) {
  return decode(directory, [&] { return has_no_strategies(bytes); });
}

std::optional<StrategySet> strategies_from(std::string_view bytes, const TaskKey& key,
                                           EntryPart part, const fs::path& directory) {
  if (is_encoded(bytes)) return decode(directory, [&] { return decode_part(bytes, key, part); });
  auto entry = entry_from(bytes, directory);
  if (!entry || entry->key.description != key.description ||
      entry->key.soc_version != key.soc_version)
    return std::nullopt;
  return std::move(part == EntryPart::kConfirmed ? entry->set : entry->unconfirmed);
}

std::uint64_t number_from(const std::string& text, const fs::path& directory) {
  const auto number = to_number<std::uint64_t>(text);
  if (!number) reject_value(directory, "'" + text + "' is no number");
  return *number;
}

void append_big_endian(std::string& key, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>((value >> shift) & 0xff);
}

DigestBytes::DigestBytes(const Digest128& digest) {
  for (std::size_t i = 0; i < 8; ++i) {
    bytes_[i] = static_cast<char>(digest.high >> (56 - 8 * i));
    bytes_[8 + i] = static_cast<char>(digest.low >> (56 - 8 * i));
  }
}

std::string digest_bytes(const Digest128& digest) {
  return std::string(DigestBytes(digest).view());
}

TaskDigest task_of(std::string_view record_key) {
  return TaskDigest({read_big_endian(record_key, 0), read_big_endian(record_key, 8)});
}

std::uint64_t record_number(std::string_view record_key) {
  return read_big_endian(record_key, 16);
}

std::optional<Digest128> digest_from_hex(std::string_view hex) {
  if (hex.size() != 32) return std::nullopt;
  const auto high = to_number<std::uint64_t>(hex.substr(0, 16), 16);
  const auto low = to_number<std::uint64_t>(hex.substr(16), 16);
  if (!high || !low) return std::nullopt;
  return Digest128{.high = *high, .low = *low};
}

}  // namespace aoe::bank
