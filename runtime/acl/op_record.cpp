// Signing and checking records, and who has read which name. Tested by tests/runtime/op_record_test.cpp.
#include "runtime/acl/op_record.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <random>

#include "base/hash.h"
#include "base/held_at_fork.h"
#include "profiler/recorder.h"

namespace aoe::runtime::acl {
namespace {

constexpr std::uint32_t kVersion = 1;

std::uint32_t signature_of(const OpRecord& record) {
  constexpr std::size_t kSigned = offsetof(OpRecord, version);
  return crc32c(reinterpret_cast<const char*>(&record) + kSigned, sizeof record - kSigned);
}

/// Which texts of the last records were taken: one byte for each, in a ring.
struct Taken {
  std::mutex mutex;
  const HeldAtFork held{mutex, LockRung::kTexts};
  const std::uint64_t process = std::random_device()() | std::uint64_t{std::random_device()()}
                                                             << 32;
  std::uint64_t newest = 0;
  /// Zeroed memory that exists only where records were issued.
  const std::unique_ptr<std::uint8_t[]> bits = std::make_unique<std::uint8_t[]>(kReadableRecords);

  std::uint8_t& of(std::uint64_t sequence) { return bits[sequence % kReadableRecords]; }
  bool knows(const OpRecord& record) const {
    return record.process == process && record.sequence > 0 && record.sequence <= newest &&
           newest - record.sequence < kReadableRecords;
  }
};

/// Never destroyed: a reader may still ask while static objects are being destroyed.
Taken& taken() {
  static Taken& instance = *std::make_unique<Taken>().release();
  return instance;
}

std::uint8_t bit_of(RecordText which) {
  return static_cast<std::uint8_t>(which);
}

}  // namespace

void issue(OpRecord& record) {
  Taken& all = taken();
  {
    const std::lock_guard lock(all.mutex);
    record.sequence = ++all.newest;
    all.of(record.sequence) = 0;
  }
  record.version = kVersion;
  record.process = all.process;
  record.signature = signature_of(record);
}

std::optional<OpRecord> record_at(const void* buffer, std::size_t size_bytes, std::size_t index) {
  if (buffer == nullptr || size_bytes % sizeof(OpRecord) != 0 ||
      index >= size_bytes / sizeof(OpRecord))
    return std::nullopt;
  OpRecord record;
  std::memcpy(&record, static_cast<const char*>(buffer) + index * sizeof record, sizeof record);
  if (record.version != kVersion || record.signature != signature_of(record)) return std::nullopt;
  return record;
}

std::optional<std::string> text_of(const OpRecord& record, RecordText which) {
  Taken& all = taken();
  {
    const std::lock_guard lock(all.mutex);
    if (!all.knows(record) || (all.of(record.sequence) & bit_of(which)) != 0) return std::nullopt;
  }
  return profiler::name_of(which == RecordText::kName ? record.name_id : record.type_id);
}

bool take_text(const OpRecord& record, RecordText which) {
  Taken& all = taken();
  const std::lock_guard lock(all.mutex);
  if (!all.knows(record)) return false;
  std::uint8_t& bits = all.of(record.sequence);
  const bool was_there = (bits & bit_of(which)) == 0;
  bits |= bit_of(which);
  return was_there;
}

}  // namespace aoe::runtime::acl
