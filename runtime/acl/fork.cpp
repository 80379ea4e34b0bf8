// What fork() waits for, and what the child is left with. Tested by tests/runtime/fork_test.cpp.
#include <pthread.h>

#include "base/log.h"
#include "runtime/acl/dynamic_profiling.h"
#include "runtime/acl/process.h"
#include "runtime/acl/prof_mode.h"
#include "runtime/acl/profiling.h"
#include "runtime/acl/stamp_names.h"
#include "runtime/acl/subscription.h"

namespace aoe::runtime::acl {
namespace {

/// In the order in which calls lock: the process, its models, the subscriptions.
void lock_all() {
  process_mutex().lock();
  lock_all_models();
  lock_subscriptions();
}

void unlock_in_parent() {
  unlock_subscriptions();
  unlock_all_models();
  process_mutex().unlock();
}

void unlock_in_child() {
  unlock_subscriptions();
  // They are the parent's, as are the threads that serve them.
  forget_subscriptions();
  forget_collection();
  forget_dynamic_profiling();
  unlock_all_models();
  process_mutex().unlock();
}

}  // namespace

void prepare_for_forks() {
  // Made now: the child of a fork() waits for ever for what another thread was about to make.
  stamp_names();
  prof_modes();
  static const bool is_prepared = [] {
    const bool done = ::pthread_atfork(lock_all, unlock_in_parent, unlock_in_child) == 0;
    if (!done) logger("runtime")->warn("fork() while other threads execute may hang the child");
    return done;
  }();
  (void)is_prepared;
}

}  // namespace aoe::runtime::acl
