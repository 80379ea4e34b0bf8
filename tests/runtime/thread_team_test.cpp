// Every member once, and no OpenMP team beside helpers that run.
#include "runtime/thread_team.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <iterator>

#include "runtime/backend.h"

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
