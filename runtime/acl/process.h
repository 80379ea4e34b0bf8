// What the C API keeps for the whole process: whether it is initialized, and the order rules that follow from it.
#pragma once

#include <mutex>

namespace aoe::runtime::acl {

/// Guards everything below runtime/acl/ but executions, which have a lock for each model.
std::mutex& process_mutex();

/// Throws ACL_ERROR_UNINITIALIZE before aclInit() and after aclFinalize().
void require_initialized();

/// Throws ACL_ERROR_RT_CONTEXT_NULL when the calling thread has no context; implies require_initialized().
void require_context();

/// As above, and ACL_ERROR_RT_STREAM_CONTEXT when `stream` is neither NULL nor a stream of that context.
void require_stream(const void* stream);

/// From now on fork() waits for executions and for calls of other threads, so that the child finds nothing half-done or
/// locked, and has no subscriptions. The second time does nothing.
void prepare_for_forks();

// What fork() does for it: the process is locked, and all models are, to be unlocked on the same thread in both processes.
void lock_all_models();
void unlock_all_models();

/// Called when the API is finalized.
void destroy_all_contexts();
void unload_all_models();
/// Tells a collection that begins now about the models that are there.
void profile_all_models();

}  // namespace aoe::runtime::acl
