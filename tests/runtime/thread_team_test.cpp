// Every member once, and no OpenMP team beside helpers that run.
#include "runtime/thread_team.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <system_error>
#include <vector>

#include "base/thread_lack.h"
#include "runtime/backend.h"
#include "runtime/jit_team.h"

namespace aoe::runtime {
namespace {

std::ptrdiff_t threads_of_this_process() {
  using Entries = std::filesystem::directory_iterator;
  return std::distance(Entries("/proc/self/task"), Entries());
}

TEST(ThreadTeam, EachMemberWorksOnce) {
  for (const ThreadTeam team : {ThreadTeam::kHelpers, ThreadTeam::kOpenMp})
    for (const int threads : {1, 2, 3, 8}) {
      std::array<std::atomic<int>, 8> times{};
      run_on_each(team, threads, [&](int member) { ++times.at(static_cast<std::size_t>(member)); });
      for (int i = 0; i < 8; ++i)
        EXPECT_EQ(times.at(static_cast<std::size_t>(i)), i < threads ? 1 : 0) << threads;
    }
}

constexpr std::int64_t kParts = 7;

/// Adds up in each part what all parts have in the round before.
void add_up(void* const* buffers, std::int64_t begin, std::int64_t end, void*) noexcept {
  auto* const values = static_cast<std::int64_t*>(buffers[0]);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t* const before = values + i / kParts * kParts;
    values[kParts + i] = std::accumulate(before, before + kParts, std::int64_t{0});
  }
}

TEST(ThreadTeam, ARoundBeginsWhenTheOneBeforeHasEnded) {
  constexpr std::int64_t kRounds = 15;
  for (const ThreadTeam team : {ThreadTeam::kHelpers, ThreadTeam::kOpenMp})
    for (const int threads : {1, 2, 3, 8}) {
      std::vector<std::int64_t> values(static_cast<std::size_t>(kParts * (kRounds + 1)), 1);
      void* const buffers[] = {values.data()};
      make_way_for(team);
      JitStage stage = {
          .function = add_up, .buffers = buffers, .extent = kParts, .rounds = kRounds};
      JitTeam(threads, 0, team).run({&stage, 1}, {});
      for (std::int64_t i = 0, expected = 1; i < std::ssize(values); ++i) {
        ASSERT_EQ(values[static_cast<std::size_t>(i)], expected) << threads << " threads, " << i;
        if (i % kParts == kParts - 1) expected *= kParts;
      }
    }
}

/// It would spin on the cores that they need.
TEST(ThreadTeam, AnOpenMpTeamEndsBeforeHelpersRun) {
#ifndef _OPENMP
  GTEST_SKIP() << "this compiler makes no OpenMP teams";
#endif
  run_on_each(ThreadTeam::kHelpers, 3, [](int) {});
  const std::ptrdiff_t with_helpers = threads_of_this_process();
  run_on_each(ThreadTeam::kOpenMp, 3, [](int) {});
  ASSERT_EQ(threads_of_this_process(), with_helpers + 2);
  run_on_each(ThreadTeam::kHelpers, 3, [](int) {});
  EXPECT_EQ(threads_of_this_process(), with_helpers);
}

/// libgomp ends the process where it gets none.
TEST(ThreadTeamDeathTest, AnOpenMpTeamThatCannotBeStartedIsAnException) {
#ifndef _OPENMP
  GTEST_SKIP() << "this compiler makes no OpenMP teams";
#endif
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "without addresses the sanitizer's allocator ends the process itself";
#endif
  const auto try_without_addresses = [] {
    const rlimit none = {.rlim_cur = 1, .rlim_max = 1};  // for the stacks of threads
    ::setrlimit(RLIMIT_AS, &none);
    try {
      run_on_each(ThreadTeam::kOpenMp, 64, [](int) {});
    } catch (const std::system_error& e) {
      ::_exit(is_lack_of_threads(e) ? 10 : 11);
    }
    ::_exit(12);
  };
  EXPECT_EXIT(try_without_addresses(), testing::ExitedWithCode(10), "");
}

OmStep step_of(const char* name, double flops, double bytes) {
  OmStep step;
  step.backend = backends().find(name);
  step.flops = flops;
  step.bytes = bytes;
  return step;
}

/// Each member of a team is waited for, and one that has no core costs far more than a small step.
TEST(ThreadTeam, OnlyLargeStepsOfLibrariesHaveATeam) {
  Om om;
  EXPECT_EQ(team_of(om), ThreadTeam::kHelpers);
  om.steps = {step_of("jit", 1e9, 1e9), step_of("onednn", 1e6, 1.5e6)};
  EXPECT_EQ(team_of(om), ThreadTeam::kHelpers);
  om.steps.push_back(step_of("onednn", 1e8, 1e5));
  EXPECT_EQ(team_of(om), ThreadTeam::kOpenMp);
  om.steps.back() = step_of("onednn", 1e5, 1e8);
  EXPECT_EQ(team_of(om), ThreadTeam::kOpenMp);
  om.steps.back() = step_of("onednn", 0, 0);  // nothing is stated
  EXPECT_EQ(team_of(om), ThreadTeam::kOpenMp);
}

}  // namespace
}  // namespace aoe::runtime
