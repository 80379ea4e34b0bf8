// What a reader of a subscription asks: the accessors of records.
#include <cstring>

#include "acl/acl_prof.h"
#include "runtime/acl/op_record.h"
#include "runtime/acl/wall.h"

using namespace aoe::runtime::acl;

namespace {

OpRecord record_or_fail(const void* buffer, size_t size_bytes, uint32_t index) {
  require_pointer(buffer, "opInfo");
  const auto record = record_at(buffer, size_bytes, index);
  if (!record)
    throw AclFailure(ACL_ERROR_INVALID_PARAM,
                     "there is no record " + std::to_string(index) + " in " +
                         std::to_string(size_bytes) + " bytes of opInfo: a record has " +
                         std::to_string(sizeof(OpRecord)) + " bytes and a signature");
  return *record;
}

const char* word(RecordText which) {
  return which == RecordText::kName ? "name" : "type";
}

std::string text_or_fail(const OpRecord& record, RecordText which) {
  const auto text = text_of(record, which);
  if (!text)
    throw AclFailure(ACL_ERROR_INVALID_PARAM,
                     std::string("the record's ") + word(which) +
                         " was read before, or the record is of another process or older than " +
                         std::to_string(kReadableRecords) + " records");
  return *text;
}

aclError get_text_bytes(const char* function, const void* buffer, size_t size_bytes, uint32_t index,
                        RecordText which, size_t* text_bytes) {
  return guarded(function, [&] {
    require_pointer(text_bytes, "the length");
    *text_bytes = text_or_fail(record_or_fail(buffer, size_bytes, index), which).size() + 1;
  });
}

aclError get_text(const char* function, const void* buffer, size_t size_bytes, uint32_t index,
                  RecordText which, char* text, size_t text_bytes) {
  return guarded(function, [&] {
    require_pointer(text, "the text");
    const OpRecord record = record_or_fail(buffer, size_bytes, index);
    const std::string found = text_or_fail(record, which);
    if (text_bytes <= found.size())
      throw AclFailure(ACL_ERROR_INVALID_PARAM, std::string("the ") + word(which) + " needs " +
                                                    std::to_string(found.size() + 1) +
                                                    " bytes, there are " +
                                                    std::to_string(text_bytes));
    // Another thread may have been faster.
    if (!take_text(record, which)) text_or_fail(record, which);
    std::memcpy(text, found.c_str(), found.size() + 1);
  });
}

/// A figure of one record; `otherwise` on bad input.
template <typename Value, typename Read>
Value figure(const char* function, Value otherwise, const void* buffer, size_t size_bytes,
             uint32_t index, Read&& read) {
  return guarded_or(function, otherwise,
                    [&] { return read(record_or_fail(buffer, size_bytes, index)); });
}

uint64_t whole_us(int64_t ns) {
  return static_cast<uint64_t>(ns) / 1000;
}

/// Durations are rounded, so that a sum over many short ops is not too small.
uint64_t rounded_us(int64_t ns) {
  return (static_cast<uint64_t>(ns) + 500) / 1000;
}

}  // namespace

aclError aclprofGetOpDescSize(size_t* opDescSize) {
  return guarded(__func__, [&] {
    require_pointer(opDescSize, "opDescSize");
    *opDescSize = sizeof(OpRecord);
  });
}

aclError aclprofGetOpNum(const void* opInfo, size_t opInfoLen, uint32_t* opNumber) {
  return guarded(__func__, [&] {
    require_pointer(opInfo, "opInfo");
    require_pointer(opNumber, "opNumber");
    const size_t count = opInfoLen / sizeof(OpRecord);
    if (count == 0 || opInfoLen % sizeof(OpRecord) != 0 || count > UINT32_MAX)
      throw AclFailure(ACL_ERROR_INVALID_PARAM, "opInfoLen is " + std::to_string(opInfoLen) +
                                                    ", no multiple of " +
                                                    std::to_string(sizeof(OpRecord)));
    for (size_t i = 0; i < count; ++i) record_or_fail(opInfo, opInfoLen, static_cast<uint32_t>(i));
    *opNumber = static_cast<uint32_t>(count);
  });
}

aclError aclprofGetOpTypeLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                             size_t* opTypeLen) {
  return get_text_bytes(__func__, opInfo, opInfoLen, index, RecordText::kType, opTypeLen);
}

aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t index, char* opType,
                          size_t opTypeLen) {
  return get_text(__func__, opInfo, opInfoLen, index, RecordText::kType, opType, opTypeLen);
}

aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                             size_t* opNameLen) {
  return get_text_bytes(__func__, opInfo, opInfoLen, index, RecordText::kName, opNameLen);
}

aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t index, char* opName,
                          size_t opNameLen) {
  return get_text(__func__, opInfo, opInfoLen, index, RecordText::kName, opName, opNameLen);
}

uint64_t aclprofGetOpStart(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return figure(__func__, uint64_t{0}, opInfo, opInfoLen, index,
                [](const OpRecord& record) { return whole_us(record.begin_ns); });
}

uint64_t aclprofGetOpEnd(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return figure(__func__, uint64_t{0}, opInfo, opInfoLen, index,
                [](const OpRecord& record) { return whole_us(record.end_ns); });
}

uint64_t aclprofGetOpDuration(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return figure(__func__, uint64_t{0}, opInfo, opInfoLen, index,
                [](const OpRecord& record) { return rounded_us(record.end_ns - record.begin_ns); });
}

uint64_t aclprofGetOpExecutionTime(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return figure(__func__, uint64_t{0}, opInfo, opInfoLen, index,
                [](const OpRecord& record) { return rounded_us(record.execution_ns); });
}

uint64_t aclprofGetOpCubeFops(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return figure(__func__, uint64_t{0}, opInfo, opInfoLen, index,
                [](const OpRecord& record) { return record.cube_flops; });
}

uint64_t aclprofGetOpVectorFops(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return figure(__func__, uint64_t{0}, opInfo, opInfoLen, index,
                [](const OpRecord& record) { return record.vector_flops; });
}

size_t aclprofGetModelId(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return figure(__func__, size_t{0}, opInfo, opInfoLen, index,
                [](const OpRecord& record) { return size_t{record.model_id}; });
}

aclprofSubscribeOpFlag aclprofGetOpFlag(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return figure(__func__, ACL_SUBSCRIBE_NONE, opInfo, opInfoLen, index,
                [](const OpRecord& record) { return aclprofSubscribeOpFlag(record.flag); });
}

const char* aclprofGetOpAttriValue(const void* opInfo, size_t opInfoLen, uint32_t index,
                                   aclprofSubscribeOpAttri attri) {
  return guarded_or<const char*>(__func__, nullptr, [&]() -> const char* {
    static thread_local std::string value;
    const OpRecord record = record_or_fail(opInfo, opInfoLen, index);
    if (attri != ACL_SUBSCRIBE_ATTRI_THREADID) return nullptr;
    value = std::to_string(record.thread_id);
    return value.c_str();
  });
}
