// What a bank stores, as JSON (exported files, and CBOR in banks of schema 1) and as bytes of any schema. Values are read as
// something that anybody may have written.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "bank/encoding.h"
#include "bank/knowledge_bank.h"

namespace aoe::bank {

inline constexpr int kSchema = 2;      ///< of the values that are written
inline constexpr int kJsonSchema = 1;  ///< of their form as JSON

nlohmann::json entry_to_json(const BankEntry& entry);
nlohmann::json record_to_json(const Record& record);

/// nullopt: of another schema, which is a miss for that value alone. nlohmann::json::exception: a
/// field is missing or of a wrong type.
std::optional<BankEntry> entry_from_json(const nlohmann::json& value);
std::optional<Record> record_from_json(const nlohmann::json& value);

// What the bank at `directory` holds. Error(kBank) names it when the value is damaged.
std::optional<BankEntry> entry_from(std::string_view bytes, const std::filesystem::path& directory);
std::optional<Record> record_from(std::string_view bytes, const std::filesystem::path& directory);
/// Whether an entry, which is_encoded(), has no strategies any more.
bool is_withdrawn(std::string_view bytes, const std::filesystem::path& directory);
/// What a lookup needs of an entry; nullopt also where it is of another task.
std::optional<StrategySet> strategies_from(std::string_view bytes, const TaskKey& key,
                                           EntryPart part, const std::filesystem::path& directory);
/// Of the family of meta data.
std::uint64_t number_from(const std::string& text, const std::filesystem::path& directory);

// Keys: the digest of a task's description; for a record, its number behind it.
void append_big_endian(std::string& key, std::uint64_t value);
std::string digest_bytes(const Digest128& digest);
/// The same, for a lookup: without an allocation.
class DigestBytes {
 public:
  explicit DigestBytes(const Digest128& digest);
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::array<char, 16> bytes_;
};
TaskDigest task_of(std::string_view record_key);
std::uint64_t record_number(std::string_view record_key);

/// Of to_hex().
std::optional<Digest128> digest_from_hex(std::string_view hex);

}  // namespace aoe::bank
