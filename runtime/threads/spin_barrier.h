// SpinBarrier: the point between two stages that all threads of a team must reach before any goes
// on.
#pragma once

#include <immintrin.h>

#include <atomic>
#include <cstdint>

namespace aoe::runtime {

/// Threads spin for some ten microseconds, then sleep in the kernel: stages are short and balanced,
/// so that the wait is normally shorter than a system call, but on an oversubscribed machine the
/// one awaited may need our core to get there.
class SpinBarrier {
 public:
  /// All callers of one round give the same `team_size`.
  void arrive_and_wait(int team_size) {
    const std::uint32_t round =
        round_.load(std::memory_order_relaxed);  // cannot change before we arrive
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == team_size) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      round_.notify_all();  // a system call only when somebody sleeps
      return;
    }
    constexpr int kSpins = 2000;
    for (int i = 0; i < kSpins; ++i) {
      if (round_.load(std::memory_order_acquire) != round) return;
      _mm_pause();
    }
    round_.wait(round, std::memory_order_acquire);
  }

 private:
  // On one cache line: the last to arrive owns it once for both, and the waiting ones fetch it once. On a 2-core Zen 5 a
  // round of two threads takes 0.18 us so, 0.30 us with a line for each, and 0.41 us as an OpenMP barrier.
  alignas(64) std::atomic<int> arrived_{0};
  std::atomic<std::uint32_t> round_{0};
};

}  // namespace aoe::runtime
