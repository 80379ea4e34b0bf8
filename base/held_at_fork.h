// HeldAtFork: a lock that fork() waits for, so that the child finds it free and what it guards whole.
//
//   std::mutex mutex;
//   const HeldAtFork held(mutex, LockRung::kTexts);   // beside it, for as long as the process lives
//
// Of the locks that a child would need and that other threads may hold. Locks that nest otherwise (models, the process of the C
// API) have handlers of their own, in runtime/acl/fork.cpp, and are taken before these.
#pragma once

#include <mutex>

namespace aoe {

/// Who holds a lock takes further ones on higher rungs only.
enum class LockRung { kInterface, kTexts, kBlocks, kRecorder, kFiles, kLog };
inline constexpr int kLockRungs = 6;

class HeldAtFork {
 public:
  HeldAtFork(std::mutex& mutex, LockRung rung);
};

}  // namespace aoe
