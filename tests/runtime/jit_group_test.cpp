// How the threads share what a group does: every iteration once, evenly by cost, on few cores.
#include "runtime/jit_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace aoe::runtime {
namespace {

std::vector<JitGroupStep> random_steps(std::mt19937& random) {
  std::vector<JitGroupStep> steps(2 + random() % 5);
  for (JitGroupStep& step : steps) {
    step.cost = 0.5 + static_cast<double>(random() % 100);
    step.extents.resize(1 + random() % 3);
    for (std::int64_t& extent : step.extents) extent = static_cast<std::int64_t>(random() % 40);
  }
  return steps;
}

/// Cost of a phase by thread.
std::vector<double> loads(const JitGroup& group, std::span<const JitGroupStep> steps,
                          std::size_t phase) {
  std::vector<double> sums(group.threads(), 0.0);
  for (int t = 0; t < group.threads(); ++t)
    for (const JitShare& share : group.shares(phase, t)) {
      const auto& extents = steps[share.step].extents;
      sums[t] += steps[share.step].cost / static_cast<double>(extents.size()) *
                 static_cast<double>(share.end - share.begin) / static_cast<double>(extents[phase]);
    }
  return sums;
}

/// The dearest iteration of a phase: no cut can be finer.
double grain(std::span<const JitGroupStep> steps, std::size_t phase) {
  double largest = 0;
  for (const JitGroupStep& step : steps)
    if (phase < step.extents.size() && step.extents[phase] > 0)
      largest = std::max(largest, step.cost / static_cast<double>(step.extents.size()) /
                                      static_cast<double>(step.extents[phase]));
  return largest;
}

TEST(JitGroup, SharesAreDisjointCompleteAndEven) {
  for (std::uint32_t seed = 1; seed <= 500; ++seed) {
    std::mt19937 random(seed);
    const std::vector<JitGroupStep> steps = random_steps(random);
    for (const int threads : {1, 2, 4, 7}) {
      for (const GroupShare share : {GroupShare::kCutEach, GroupShare::kCutList}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(threads) + " threads");
        const JitGroup group(steps, share, threads);
        std::map<std::size_t, std::vector<int>> done;  // by stage and iteration
        for (std::size_t phase = 0; phase < group.phase_count(); ++phase) {
          for (int t = 0; t < threads; ++t)
            for (const JitShare& each : group.shares(phase, t)) {
              ASSERT_EQ(each.stage, group.first_stage(each.step) + phase);
              ASSERT_LT(each.begin, each.end);
              std::vector<int>& counts = done[each.stage];
              counts.resize(static_cast<std::size_t>(steps[each.step].extents[phase]));
              for (std::int64_t i = each.begin; i < each.end; ++i)
                ++counts.at(static_cast<std::size_t>(i));
            }
          const std::vector<double> load = loads(group, steps, phase);
          EXPECT_LE(std::ranges::max(load) - std::ranges::min(load),
                    4 * grain(steps, phase) + 1e-9);
        }
        std::size_t stages = 0, with_work = 0;
        for (const JitGroupStep& step : steps) {
          stages += step.extents.size();
          with_work += static_cast<std::size_t>(
              std::ranges::count_if(step.extents, [](std::int64_t e) { return e > 0; }));
        }
        EXPECT_EQ(group.stage_count(), stages);
        EXPECT_EQ(done.size(), with_work);
        for (const auto& [stage, counts] : done)
          EXPECT_TRUE(std::ranges::all_of(counts, [](int n) { return n == 1; }));
      }
    }
  }
}

TEST(JitGroup, ACutListLeavesAllButTheBordersToOneCore) {
  const std::vector<JitGroupStep> steps = {
      {{10}, 10}, {{10}, 10}, {{10}, 10}, {{10}, 10}, {{1}, 4}};
  const JitGroup group(steps, GroupShare::kCutList, 4);
  std::map<std::size_t, std::set<int>> threads_of;
  for (int t = 0; t < 4; ++t)
    for (const JitShare& share : group.shares(0, t)) threads_of[share.step].insert(t);
  std::size_t shares = 0;
  for (const auto& [step, threads] : threads_of) shares += threads.size();
  EXPECT_LE(shares, steps.size() + 3);
}

TEST(JitGroup, RoundingEvensOutOverTheSteps) {
  // Three iterations each: alone, one of two threads would get two of every three.
  const std::vector<JitGroupStep> steps(4, JitGroupStep{{3}, 3});
  const JitGroup group(steps, GroupShare::kCutEach, 2);
  EXPECT_EQ(loads(group, steps, 0), (std::vector<double>{6, 6}));
}

TEST(JitGroup, TimesShareTheGroupsByWork) {
  const std::vector<JitGroupStep> steps = {{{4}, 1}, {{0}, 1}, {{4}, 1}};
  JitGroup group(steps, GroupShare::kCutList, 2);
  for (int run = 0; run < 2; ++run) {
    for (int t = 0; t < 2; ++t) group.begin_times(t);
    group.add_time(0, 0, 40);
    group.add_time(0, 0, 20);  // of its second stage
    group.add_time(0, 2, 10);
    group.add_time(1, 2, 50);
    const auto times = group.times(1000, 1100);
    ASSERT_EQ(times.size(), 3u);
    EXPECT_EQ(times[0].begin_ticks, 1000u);
    EXPECT_EQ(times[0].end_ticks, 1050u);
    EXPECT_EQ(times[1].begin_ticks, 1050u);  // had nothing to do
    EXPECT_EQ(times[1].end_ticks, 1050u);
    EXPECT_EQ(times[2].begin_ticks, 1050u);
    EXPECT_EQ(times[2].end_ticks, 1100u);
  }
}

}  // namespace
}  // namespace aoe::runtime
