// The bytes of stored values, schema 2: fields in a fixed order, without names. Numbers of variable length, texts behind their
// length, all of them little-endian. docs/bank_schema.md lists the fields. What is read may have been written by anybody.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bank/knowledge_bank.h"

namespace aoe::bank {

/// The first byte of a value. Schema 1 was CBOR, whose maps begin with others.
inline constexpr char kEncodingMark = 2;

/// Says what is wrong with the bytes.
struct DamagedBytes : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Equal values have equal bytes: features are sorted by name.
std::string encode(const BankEntry& entry);
std::string encode(const Record& record);

inline bool is_encoded(std::string_view bytes) {
  return !bytes.empty() && bytes.front() == kEncodingMark;
}

// Of bytes that is_encoded() says yes to. Throw DamagedBytes.
BankEntry decode_entry(std::string_view bytes);
Record decode_record(std::string_view bytes);
enum class EntryPart { kConfirmed, kUnconfirmed };
/// What a lookup needs, without a copy of the rest. nullopt: the entry is of another task.
std::optional<StrategySet> decode_part(std::string_view bytes, const TaskKey& key, EntryPart part);
/// Whether the entry is one of a withdrawn task.
bool has_no_strategies(std::string_view bytes);

}  // namespace aoe::bank
