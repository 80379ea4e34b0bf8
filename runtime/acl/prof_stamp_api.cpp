// The C functions of stamps, ranges and steps.
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "acl/acl_prof.h"
#include "base/held_at_fork.h"
#include "runtime/acl/handles.h"
#include "runtime/acl/process.h"
#include "runtime/acl/prof_stamps.h"
#include "runtime/acl/stamp_names.h"
#include "runtime/acl/tensor_text.h"
#include "runtime/acl/wall.h"

struct aclprofStepInfo {
  std::optional<std::uint64_t> begin;  ///< ticks; after ACL_STEP_START
};

namespace aoe::runtime::acl {
namespace {

using profiler::EventKind;
using profiler::StampType;

constexpr std::size_t kMostTextBytes = 4095;
constexpr std::size_t kMostMarkExBytes = 127;
constexpr std::size_t kMostCategories = 1 << 16;

std::mutex mutex;  ///< guards what follows
const HeldAtFork held_stamps(mutex, LockRung::kInterface);
Handles<Stamp> stamps;
Handles<aclprofStepInfo> steps;
std::map<std::uint32_t, std::uint32_t> category_names;  ///< ids of names, by category

std::atomic<std::uint32_t> step_number = 0;

Stamp& find_stamp(const void* handle) {
  Stamp* const stamp = stamps.find(handle);
  require(stamp != nullptr, ACL_ERROR_INVALID_PARAM,
          "not a stamp of aclprofCreateStamp, or destroyed already");
  return *stamp;
}

Stamp copy_of(const void* handle) {
  const std::lock_guard lock(mutex);
  Stamp stamp = find_stamp(handle);
  if (const auto name = category_names.find(stamp.detail.category);
      stamp.detail.has_category && name != category_names.end())
    stamp.detail.category_name_id = name->second;
  return stamp;
}

/// At most `length` bytes of the caller's; a NUL ends them earlier.
std::string_view given_text(const char* text, std::size_t length, std::size_t most) {
  require_pointer(text, "the text");
  if (length == 0 || length > most)
    throw AclFailure(ACL_ERROR_INVALID_PARAM,
                     "the text's length is not 1 to " + std::to_string(most));
  return {text, ::strnlen(text, length)};
}

template <typename Body>
aclError change_stamp(const char* function, const void* handle, Body&& body) {
  return guarded(function, [&] {
    const std::lock_guard lock(mutex);
    body(find_stamp(handle));
  });
}

std::size_t bytes_of(profiler::PayloadType type) {
  using profiler::PayloadType;
  switch (type) {
    case PayloadType::kUint32:
    case PayloadType::kInt32:
    case PayloadType::kFloat:
      return 4;
    default:
      return 8;
  }
}

Stamp op_stamp(const aclprofEventAttributes* attributes) {
  require_pointer(attributes, "attr");
  require(attributes->size == sizeof *attributes, ACL_ERROR_INVALID_PARAM,
          "attr->size is not that of aclprofEventAttributes");
  require(attributes->messageType == 0, ACL_ERROR_INVALID_PARAM,
          "attr->messageType is not 0 (tensorInfo)");
  require_pointer(attributes->message.tensorInfo, "attr->message.tensorInfo");
  return {.message_id = stamp_names().id_of(tensor_text(*attributes->message.tensorInfo))};
}

void take_step_time(aclprofStepInfo& step, const aclprofStepTag& given) {
  const auto tag = number_of(given);
  const std::uint64_t now = profiler::now_ticks();
  if (tag == ACL_STEP_START) {
    step.begin = now;
    return;
  }
  require(tag == ACL_STEP_END, ACL_ERROR_INVALID_PARAM, "there is no such tag of a step");
  require(step.begin.has_value(), ACL_ERROR_INVALID_PARAM, "the step has no start");
  static constinit profiler::LazyName name("Step");
  profiler::record(EventKind::kStep, name.id(), *step.begin, now,
                   profiler::task_value(profiler::kProgramStep, ++step_number));
  step.begin.reset();
}

}  // namespace
}  // namespace aoe::runtime::acl

using namespace aoe::runtime::acl;

void* aclprofCreateStamp() {
  return guarded_or<void*>(__func__, nullptr, [] {
    require_stamps();
    const std::lock_guard lock(mutex);
    return stamps.add({});
  });
}

void aclprofDestroyStamp(void* stamp) {
  guarded(__func__, [&] {
    const std::lock_guard lock(mutex);
    stamps.erase(stamp);
  });
}

aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen) {
  return change_stamp(__func__, stamp, [&](Stamp& changed) {
    changed.message_id = stamp_names().id_of(given_text(msg, msgLen, kMostTextBytes));
  });
}

aclError aclprofSetStampTagName(void* stamp, const char* tagName, uint16_t len) {
  return change_stamp(__func__, stamp, [&](Stamp& changed) {
    changed.detail.tag_id = stamp_names().id_of(given_text(tagName, len, kMostTextBytes));
  });
}

aclError aclprofSetCategoryName(uint32_t category, const char* categoryName) {
  return guarded(__func__, [&] {
    require_pointer(categoryName, "categoryName");
    const std::size_t length = ::strnlen(categoryName, kMostTextBytes + 1);
    const std::uint32_t name =
        stamp_names().id_of(given_text(categoryName, length, kMostTextBytes));
    const std::lock_guard lock(mutex);
    require(category_names.size() < kMostCategories || category_names.contains(category),
            ACL_ERROR_STORAGE_OVER_LIMIT, "too many categories have names");
    category_names[category] = name;
  });
}

aclError aclprofSetStampCategory(void* stamp, uint32_t category) {
  return change_stamp(__func__, stamp, [&](Stamp& changed) {
    changed.detail.has_category = true;
    changed.detail.category = category;
  });
}

aclError aclprofSetStampPayload(void* stamp, const int32_t type, void* value) {
  return change_stamp(__func__, stamp, [&](Stamp& changed) {
    require_pointer(value, "value");
    require(type >= 0 && type < aoe::profiler::kPayloadTypes, ACL_ERROR_INVALID_PARAM,
            "there is no such type of payload");
    changed.detail.has_payload = true;
    changed.detail.payload_type = static_cast<aoe::profiler::PayloadType>(type);
    changed.detail.payload = 0;
    std::memcpy(&changed.detail.payload, value, bytes_of(changed.detail.payload_type));
  });
}

aclError aclprofMark(void* stamp) {
  return guarded(__func__, [&] {
    require_stamps();
    record_mark(copy_of(stamp), StampType::kMarker);
  });
}

aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream) {
  return guarded(__func__, [&] {
    require_stamps();
    const std::string_view text = given_text(msg, msgLen, kMostMarkExBytes);
    require_stream(stream);
    record_mark({.message_id = stamp_names().id_of(text)}, StampType::kMarkerEx);
  });
}

aclError aclprofPush(void* stamp) {
  return guarded(__func__, [&] {
    require_stamps();
    push_range(copy_of(stamp), /*is_op=*/false);
  });
}

aclError aclprofPop() {
  return guarded(__func__, [] { pop_range(/*is_op=*/false); });
}

aclError aclprofRangeStart(void* stamp, uint32_t* rangeId) {
  return guarded(__func__, [&] {
    require_stamps();
    require_pointer(rangeId, "rangeId");
    *rangeId = start_range(copy_of(stamp));
  });
}

aclError aclprofRangeStop(uint32_t rangeId) {
  return guarded(__func__, [&] { stop_range(rangeId); });
}

aclError aclprofRangePushEx(aclprofEventAttributes* attr) {
  return guarded(__func__, [&] {
    require_stamps();
    push_range(op_stamp(attr), /*is_op=*/true);
  });
}

aclError aclprofRangePop() {
  return guarded(__func__, [] { pop_range(/*is_op=*/true); });
}

uint64_t aclprofStr2Id(const char* message) {
  return guarded_or<uint64_t>(__func__, UINT64_MAX, [&]() -> uint64_t {
    require_pointer(message, "message");
    const std::size_t length = ::strnlen(message, kMostTextBytes + 1);
    const std::uint32_t id = stamp_names().id_of(given_text(message, length, kMostTextBytes));
    return id == stamp_names().dropped_id() ? UINT64_MAX : id;
  });
}

aclprofStepInfo* aclprofCreateStepInfo() {
  return guarded_or<aclprofStepInfo*>(__func__, nullptr, [] {
    const std::lock_guard lock(mutex);
    return steps.add({});
  });
}

void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo) {
  guarded(__func__, [&] {
    const std::lock_guard lock(mutex);
    steps.erase(stepinfo);
  });
}

aclError aclprofGetStepTimestamp(aclprofStepInfo* stepinfo, aclprofStepTag tag,
                                 aclrtStream stream) {
  return guarded(__func__, [&] {
    require(aoe::profiler::is_recorded(EventKind::kStep), ACL_ERROR_PROF_NOT_RUN,
            "no collection with ACL_PROF_TRAINING_TRACE or task times runs");
    require_stream(stream);
    const std::lock_guard lock(mutex);
    aclprofStepInfo* const step = steps.find(stepinfo);
    require(step != nullptr, ACL_ERROR_INVALID_PARAM,
            "not a step of aclprofCreateStepInfo, or destroyed already");
    take_step_time(*step, tag);
  });
}
