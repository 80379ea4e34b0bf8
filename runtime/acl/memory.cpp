// Memory: the device's is the host's.
#include "base/memory.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "acl/acl_rt.h"
#include "base/held_at_fork.h"
#include "profiler/collect/memory_block.h"
#include "profiler/recorder.h"
#include "runtime/acl/process.h"
#include "runtime/acl/wall.h"
#include "runtime/aligned_memory.h"

using namespace aoe::runtime::acl;

namespace {

void allocate(void** pointer, size_t size) {
  require_pointer(pointer, "the address of the pointer");
  require(size > 0, ACL_ERROR_INVALID_PARAM, "size is 0");
  try {
    *pointer = aoe::runtime::AlignedMemory(size).release();
  } catch (const aoe::OutOfMemory& e) {
    throw AclFailure(ACL_ERROR_RT_MEMORY_ALLOCATION, e.what());
  } catch (const std::bad_alloc&) {
    throw AclFailure(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     std::to_string(size) + " bytes are not to be had");
  }
}

/// Blocks that a collection has seen come, so that it sees them go.
std::mutex noted_mutex;
const aoe::HeldAtFork held_noted(noted_mutex, aoe::LockRung::kTexts);
std::map<const void*, aoe::profiler::MemoryBlock> noted;
std::atomic<bool> has_noted = false;  ///< no lock where nothing was ever collected

void note_allocation(const void* pointer, size_t size, const char* function) {
  if (!aoe::profiler::is_recorded(aoe::profiler::EventKind::kMemory)) return;
  const std::lock_guard lock(noted_mutex);
  has_noted = true;
  noted[pointer] = aoe::profiler::MemoryBlock(function, size);
}

void note_release(const void* pointer) {
  if (!has_noted) return;
  const std::lock_guard lock(noted_mutex);
  noted.erase(pointer);
}

void copy(void* dst, size_t destMax, const void* src, size_t count, const aclrtMemcpyKind& given) {
  const auto kind = number_of(given);
  require_pointer(dst, "dst");
  require_pointer(src, "src");
  require(kind >= ACL_MEMCPY_HOST_TO_HOST && kind <= ACL_MEMCPY_DEFAULT, ACL_ERROR_INVALID_PARAM,
          "unknown kind of copy");
  if (count > destMax)
    throw AclFailure(ACL_ERROR_INVALID_PARAM,
                     std::to_string(count) + " bytes into a buffer of " + std::to_string(destMax));
  std::memcpy(dst, src, count);
}

}  // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return guarded(__func__, [&] {
    require_context();
    const auto number = number_of(policy);
    require(number >= ACL_MEM_MALLOC_HUGE_FIRST && number <= ACL_MEM_MALLOC_NORMAL_ONLY_P2P,
            ACL_ERROR_INVALID_PARAM, "unknown policy");
    allocate(devPtr, size);
    note_allocation(*devPtr, size, "aclrtMalloc");
  });
}

aclError aclrtFree(void* devPtr) {
  return guarded(__func__, [&] {
    require_pointer(devPtr, "devPtr");
    note_release(devPtr);
    std::free(devPtr);
  });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return guarded(__func__, [&] {
    require_context();
    allocate(hostPtr, size);
    note_allocation(*hostPtr, size, "aclrtMallocHost");
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return guarded(__func__, [&] {
    require_pointer(hostPtr, "hostPtr");
    note_release(hostPtr);
    std::free(hostPtr);
  });
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return guarded(__func__, [&] {
    require_context();
    copy(dst, destMax, src, count, kind);
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return guarded(__func__, [&] {
    require_stream(stream);
    copy(dst, destMax, src, count, kind);
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return guarded(__func__, [&] {
    require_context();
    require_pointer(devPtr, "devPtr");
    require(count <= maxCount, ACL_ERROR_INVALID_PARAM, "count is larger than maxCount");
    std::memset(devPtr, value, count);
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* freeSize, size_t* total) {
  return guarded(__func__, [&] {
    require_context();
    require_pointer(freeSize, "freeSize");
    require_pointer(total, "total");
    const auto page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    *freeSize = static_cast<size_t>(::sysconf(_SC_AVPHYS_PAGES)) * page_bytes;
    *total = static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) * page_bytes;
  });
}
