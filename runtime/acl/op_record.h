// OpRecord: one op of a subscribed model as it goes through the pipe, and the names that stay on this side.
//
// A record is of fixed size and opens with a signature over the rest. Names and types are not in it: they are looked up by
// the numbers of profiler::intern(), each once for each record, in the process that wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace aoe::runtime::acl {

/// Every field at a multiple of its size, no padding; times are of CLOCK_MONOTONIC, all 0 in a subscription without times.
struct OpRecord {
  std::uint32_t signature = 0;  ///< CRC-32C of all that follows
  std::uint32_t version = 1;
  std::uint64_t process = 0;   ///< a random number of the writing process
  std::uint64_t sequence = 0;  ///< 1, 2, ... in that process
  std::uint32_t model_id = 0;
  std::uint32_t op_index = 0;  ///< in the model's op table
  std::uint32_t name_id = 0;
  std::uint32_t type_id = 0;
  std::uint32_t flag = 0;  ///< aclprofSubscribeOpFlag
  std::uint32_t device_id = 0;
  std::int64_t thread_id = 0;  ///< of the operating system
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t execution_ns = 0;
  std::uint64_t cube_flops = 0;
  std::uint64_t vector_flops = 0;
};
static_assert(sizeof(OpRecord) == 96 && alignof(OpRecord) == 8);

/// Numbers the record as this process's next, and signs it. Thread-safe.
void issue(OpRecord& record);

/// A copy of record `index`; no value when the buffer does not consist of whole records, has fewer, or the record's
/// signature or version is wrong. The buffer may lie anywhere.
std::optional<OpRecord> record_at(const void* buffer, std::size_t size_bytes, std::size_t index);

/// What of a record is read once.
enum class RecordText : std::uint8_t { kName = 1, kType = 2 };

/// Of the last so many records of this process names and types can be read.
inline constexpr std::uint64_t kReadableRecords = 1 << 20;

/// No value when it was taken already, or the record is of another process or too old. Thread-safe.
std::optional<std::string> text_of(const OpRecord& record, RecordText which);
/// From now on text_of() has no value; false when it had none.
bool take_text(const OpRecord& record, RecordText which);

}  // namespace aoe::runtime::acl
