// The OpenMP team of a thread, told to end; a loop of as many parts as threads that waits for all of them to begin.
#include "runtime/thread_team.h"

#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "runtime/backend.h"
#include "runtime/om/om_bodies.h"
#include "runtime/threads/helper_threads.h"
#include "runtime/threads/openmp_threads.h"

namespace aoe::runtime {
namespace {

/// The calling thread's OpenMP team has run since it was last ended. Whether it still spins nobody tells.
thread_local bool openmp_team_may_spin = false;

/// One thread takes some 20 us for less. What is not stated counts as much.
bool is_worth_a_team(const OmStep& step) {
  constexpr double kFlops = 2e6, kBytes = 2e6;
  return step.flops + step.bytes <= 0 || step.flops >= kFlops || step.bytes >= kBytes;
}

/// Where the members of a loop wait for each other.
struct Meeting {
  using Clock = std::chrono::steady_clock;

  const std::function<void(int)>& work;
  const int parts;
  const Clock::time_point patience_ends = Clock::now() + std::chrono::milliseconds(1);
  std::atomic<int> begun{0};

  void come() {
    ++begun;
    while (begun.load(std::memory_order_relaxed) < parts && Clock::now() < patience_ends)
      _mm_pause();
  }
};

void run_part(void* const* buffers, std::int64_t begin, std::int64_t end, void*) {
  auto& meeting = *static_cast<Meeting*>(buffers[0]);
  meeting.come();
  for (std::int64_t i = begin; i < end; ++i) meeting.work(static_cast<int>(i));
}

}  // namespace

ThreadTeam team_of(const Om& om) {
  bool needs_team = false;
  for_each_om(om, [&](const Om& own, const std::string&) {
    needs_team |= std::ranges::any_of(own.steps, [](const OmStep& step) {
      return step.backend->traits().keeps_openmp_team && is_worth_a_team(step);
    });
  });
  return needs_team ? ThreadTeam::kOpenMp : ThreadTeam::kHelpers;
}

void make_way_for(ThreadTeam team) {
  if (team == ThreadTeam::kOpenMp) {
    openmp_team_may_spin = true;
  } else if (openmp_team_may_spin) {
    omp_pause_resource(omp_pause_soft, omp_get_initial_device());  // waits for its threads' end
    openmp_team_may_spin = false;
    forget_openmp_threads();
  }
}

void run_on_each(ThreadTeam team, int threads, const std::function<void(int)>& work) {
  make_way_for(team);
  if (team == ThreadTeam::kOpenMp) {
    ask_for_openmp_threads(threads);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int i = 0; i < threads; ++i) work(i);
    return;
  }
  HelperThreads& helpers = HelperThreads::of_this_thread(threads - 1);
  Meeting meeting{.work = work, .parts = std::min(threads, helpers.count() + 1)};
  void* const buffers[] = {&meeting};
  helpers.run({.function = run_part, .buffers = buffers, .extent = threads}, threads);
}

}  // namespace aoe::runtime
