// A table without a lock of its own: a fork() that meets a new entry holds it, or does not yet. Tested by
// tests/runtime/fork_test.cpp.
#include "base/held_at_fork.h"

#include <pthread.h>

#include <array>
#include <atomic>

#include "base/check.h"

namespace aoe {
namespace {

struct Entry {
  std::atomic<std::mutex*> mutex{nullptr};
  LockRung rung{};
};
constexpr std::size_t kMostEntries = 32;
constinit std::array<Entry, kMostEntries> entries;
constinit std::atomic<std::size_t> used = 0;

/// What the fork that is going on has locked; only its thread reads and writes it, since it holds them all.
std::array<std::mutex*, kMostEntries> locked;
std::size_t locked_count = 0;

void lock_all() {
  std::array<std::mutex*, kMostEntries> found{};
  std::size_t count = 0;
  for (int rung = 0; rung < kLockRungs; ++rung)
    for (Entry& entry : entries)
      if (std::mutex* const mutex = entry.mutex.load(std::memory_order_acquire);
          mutex != nullptr && static_cast<int>(entry.rung) == rung) {
        mutex->lock();
        found[count++] = mutex;
      }
  locked = found;
  locked_count = count;
}

void unlock_all() {
  const std::array<std::mutex*, kMostEntries> held = locked;
  for (std::size_t i = locked_count; i-- > 0;) held[i]->unlock();
}

}  // namespace

HeldAtFork::HeldAtFork(std::mutex& mutex, LockRung rung) {
  // Once, and early: handlers that are set later run before this one.
  static const bool is_set = ::pthread_atfork(lock_all, unlock_all, unlock_all) == 0;
  (void)is_set;  // no memory for it: fork() is as it is without us
  const std::size_t slot = used.fetch_add(1);
  AOE_CHECK(slot < kMostEntries);
  entries[slot].rung = rung;
  entries[slot].mutex.store(&mutex, std::memory_order_release);
}

}  // namespace aoe
