// A table without a lock of its own: a fork() that meets a new entry holds it, or does not yet. Tested by
// tests/runtime/fork_test.cpp.
#include "base/held_at_fork.h"

#include <pthread.h>

#include <array>
#include <atomic>

#include "base/check.h"

namespace aoe {
namespace {

struct HeldMutex {
  std::atomic<std::mutex*> mutex{nullptr};
  LockRung rung{};
};
constexpr std::size_t kMostHeld = 32;

struct HeldMutexes {
  std::array<HeldMutex, kMostHeld> entries;
  std::atomic<std::size_t> used{0};
  /// What the fork that is going on has locked; only its thread reads and writes it, since it holds them all.
  std::array<std::mutex*, kMostHeld> locked{};
  std::size_t locked_count = 0;
};
constinit HeldMutexes held_mutexes;

void lock_held_mutexes() {
  std::array<std::mutex*, kMostHeld> found{};
  std::size_t count = 0;
  for (int rung = 0; rung < kLockRungs; ++rung)
    for (HeldMutex& entry : held_mutexes.entries)
      if (std::mutex* const mutex = entry.mutex.load(std::memory_order_acquire);
          mutex != nullptr && static_cast<int>(entry.rung) == rung) {
        mutex->lock();
        found[count++] = mutex;
      }
  held_mutexes.locked = found;
  held_mutexes.locked_count = count;
}

void unlock_held_mutexes() {
  const std::array<std::mutex*, kMostHeld> locked = held_mutexes.locked;
  for (std::size_t i = held_mutexes.locked_count; i-- > 0;) locked[i]->unlock();
}

}  // namespace

HeldAtFork::HeldAtFork(std::mutex& mutex, LockRung rung) {
  // Once, and early: handlers that are set later run before this one.
  static const bool is_set =
      ::pthread_atfork(lock_held_mutexes, unlock_held_mutexes, unlock_held_mutexes) == 0;
  (void)is_set;  // no memory for it: fork() is as it is without us
  const std::size_t slot = held_mutexes.used.fetch_add(1);
  AOE_CHECK(slot < kMostHeld, "more locks are held at fork() than there is room for");
  held_mutexes.entries[slot].rung = rung;
  held_mutexes.entries[slot].mutex.store(&mutex, std::memory_order_release);
}

}  // namespace aoe
