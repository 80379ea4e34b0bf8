// Device, contexts, streams and events. Nothing here waits: work on a stream is done when its call returns.
#include <chrono>
#include <optional>

#include "acl/acl_rt.h"
#include "runtime/acl/handles.h"
#include "runtime/acl/process.h"
#include "runtime/acl/wall.h"
#include "runtime/host_soc.h"

namespace aoe::runtime::acl {
namespace {

using Clock = std::chrono::steady_clock;

struct Context {};

struct Stream {
  const Context* context;
};

struct Event {
  const Context* context;
  std::optional<Clock::time_point> recorded;
};

Handles<Context> contexts;
Handles<Stream> streams;
Handles<Event> events;
Context* default_context = nullptr;
int default_context_users = 0;
thread_local Context* current_context = nullptr;  ///< may dangle: looked up before use

constexpr std::int32_t kDeviceCount = 1;

void require_device(std::int32_t device) {
  if (device < 0 || device >= kDeviceCount)
    throw AclFailure(ACL_ERROR_RT_INVALID_DEVICEID,
                     "there is no device " + std::to_string(device) + ", only device 0");
}

/// The lock is held in all of these.
Context* find_current_context() {
  return contexts.find(current_context);
}

Context& the_current_context() {
  Context* const context = find_current_context();
  require(context != nullptr, ACL_ERROR_RT_CONTEXT_NULL,
          "the calling thread has no context; call aclrtSetDevice first");
  return *context;
}

template <typename T>
T& find_or_fail(const Handles<T>& handles, const void* handle, aclError code, const char* message) {
  T* const object = handles.find(handle);
  require(object != nullptr, code, message);
  return *object;
}

Event& event_of(const void* handle) {
  return find_or_fail(events, handle, ACL_ERROR_RT_PARAM_INVALID, "not an event");
}

void check_stream(const void* handle) {
  const Context& context = the_current_context();
  if (handle == nullptr) return;
  const Stream* const stream = streams.find(handle);
  require(stream != nullptr && stream->context == &context, ACL_ERROR_RT_STREAM_CONTEXT,
          "not a stream of the current context");
}

void destroy_context(const Context* context) {
  streams.erase_if([&](const Stream& stream) { return stream.context == context; });
  events.erase_if([&](const Event& event) { return event.context == context; });
  contexts.erase(context);
}

/// With the process locked and initialized.
template <typename Body>
aclError on_device(const char* function, Body&& body) {
  return guarded(function, [&] {
    require_initialized();
    const std::lock_guard lock(process_mutex());
    body();
  });
}

}  // namespace

void require_context() {
  require_initialized();
  const std::lock_guard lock(process_mutex());
  the_current_context();
}

void require_stream(const void* stream) {
  require_initialized();
  const std::lock_guard lock(process_mutex());
  check_stream(stream);
}

void destroy_all_contexts() {
  streams.clear();
  events.clear();
  contexts.clear();
  default_context = nullptr;
  default_context_users = 0;
}

}  // namespace aoe::runtime::acl

using namespace aoe::runtime::acl;

aclError aclrtSetDevice(int32_t deviceId) {
  return on_device(__func__, [&] {
    require_device(deviceId);
    if (default_context == nullptr) default_context = contexts.add({});
    ++default_context_users;
    current_context = default_context;
  });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return on_device(__func__, [&] {
    require_device(deviceId);
    require(default_context_users > 0, ACL_ERROR_RT_CONTEXT_NULL, "the device was not set");
    if (--default_context_users > 0) return;
    destroy_context(default_context);
    default_context = nullptr;
  });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return on_device(__func__, [&] {
    require_pointer(deviceId, "deviceId");
    the_current_context();
    *deviceId = 0;
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return guarded(__func__, [&] {
    require_pointer(count, "count");
    *count = kDeviceCount;
  });
}

aclError aclrtSynchronizeDevice() {
  return on_device(__func__, [] { the_current_context(); });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return on_device(__func__, [&] {
    require_pointer(runMode, "runMode");
    *runMode = ACL_DEVICE;
  });
}

const char* aclrtGetSocName() {
  return guarded_or(__func__, "", [] {
    static const std::string name = aoe::runtime::host_soc_version();
    return name.c_str();
  });
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return guarded(__func__, [&] {
    require_pointer(majorVersion, "majorVersion");
    require_pointer(minorVersion, "minorVersion");
    require_pointer(patchVersion, "patchVersion");
    *majorVersion = 1;  // of this interface, as in the AscendCL headers
    *minorVersion = 0;
    *patchVersion = 0;
  });
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return on_device(__func__, [&] {
    require_pointer(context, "context");
    require_device(deviceId);
    current_context = contexts.add({});
    *context = current_context;
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return on_device(__func__, [&] {
    require_pointer(context, "context");
    const Context& found =
        find_or_fail(contexts, context, ACL_ERROR_RT_PARAM_INVALID, "not a context");
    require(&found != default_context, ACL_ERROR_RT_PARAM_INVALID,
            "the default context ends with aclrtResetDevice");
    destroy_context(&found);
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return on_device(__func__, [&] {
    require_pointer(context, "context");
    current_context = &find_or_fail(contexts, context, ACL_ERROR_RT_PARAM_INVALID, "not a context");
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return on_device(__func__, [&] {
    require_pointer(context, "context");
    *context = &the_current_context();
  });
}

aclError aclrtCreateStream(aclrtStream* stream) {
  return on_device(__func__, [&] {
    require_pointer(stream, "stream");
    *stream = streams.add({&the_current_context()});
  });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return on_device(__func__, [&] {
    require_pointer(stream, "stream");
    check_stream(stream);
    streams.erase(stream);
  });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return on_device(__func__, [&] { check_stream(stream); });
}

aclError aclrtCreateEvent(aclrtEvent* event) {
  return on_device(__func__, [&] {
    require_pointer(event, "event");
    *event = events.add({&the_current_context(), std::nullopt});
  });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return on_device(__func__, [&] { events.erase(&event_of(event)); });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return on_device(__func__, [&] {
    check_stream(stream);
    event_of(event).recorded = Clock::now();
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return on_device(__func__, [&] { event_of(event); });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return on_device(__func__, [&] {
    require_pointer(ms, "ms");
    const Event& start = event_of(startEvent);
    const Event& end = event_of(endEvent);
    require(start.recorded && end.recorded, ACL_ERROR_RT_PARAM_INVALID,
            "an event was not recorded");
    *ms = std::chrono::duration<float, std::milli>(*end.recorded - *start.recorded).count();
  });
}
