// Trials follow the tasks' shares and keep the limits.
#include "tuner/search/budget.h"

#include <gtest/gtest.h>

#include <numeric>

namespace aoe::tuner {
namespace {

SearchPolicy policy() {
  SearchPolicy p;
  p.trials_per_percent = 2;
  p.min_trials = 10;
  p.max_trials = 100;
  p.familiar_share = 0.2;
  return p;
}

std::vector<int> plan(std::vector<double> task_ns, std::int64_t limit = 0) {
  return plan_trials(task_ns, {}, policy(), limit);
}

TEST(PlanTrials, FollowsTheShareWithinBounds) {
  EXPECT_EQ(plan({80, 15, 5}), (std::vector<int>{100, 30, 10}));
  EXPECT_EQ(plan({0, 0}), (std::vector<int>{10, 10}));
  EXPECT_TRUE(plan({}).empty());
}

TEST(PlanTrials, FamiliarTasksGetTheirShareOfIt) {
  const double task_ns[] = {80, 15, 5};
  EXPECT_EQ(plan_trials(task_ns, {false, true, true}, policy(), 0), (std::vector<int>{100, 6, 2}));
}

TEST(PlanTrials, TotalLimitIsKeptAndTheLargestTasksKeepTrials) {
  for (const std::int64_t limit : {1, 2, 3, 10, 69, 139, 140, 1000}) {
    const std::vector<int> planned = plan({5, 80, 15}, limit);
    const auto sum = std::accumulate(planned.begin(), planned.end(), std::int64_t{0});
    EXPECT_LE(sum, limit);
    EXPECT_GE(sum, std::min<std::int64_t>(limit, 3));
    EXPECT_GE(planned[1], planned[2]);
    EXPECT_GE(planned[2], planned[0]);
  }
}

TEST(OrderByGain, LargestFirstAndStable) {
  EXPECT_EQ(order_by_gain(std::vector<double>{1, 3, 2, 3}), (std::vector<std::size_t>{1, 3, 2, 0}));
}

TEST(TaskTime, NeverMoreThanWhatIsLeft) {
  EXPECT_DOUBLE_EQ(task_time_s(100, 10, 100), 20);
  EXPECT_DOUBLE_EQ(task_time_s(100, 90, 100), 100);
  EXPECT_DOUBLE_EQ(task_time_s(0, 10, 100), 0);
}

}  // namespace
}  // namespace aoe::tuner
