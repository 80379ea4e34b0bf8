// The search over rewrite plans, with times from a formula.
#include "tuner/search/plan_search.h"

#include <gtest/gtest.h>

#include <set>

namespace aoe::tuner {
namespace {

/// Places over two canonical nodes each, with the parameter values 1, 2 and 3.
std::vector<SubgraphPlace> places(const std::vector<std::vector<int>>& nodes) {
  std::vector<SubgraphPlace> list;
  for (const auto& each : nodes)
    list.push_back({.kind = "k",
                    .version = 1,
                    .nodes = each,
                    .choices = {{{"p", 1}}, {{"p", 2}}, {{"p", 3}}}});
  return list;
}

/// 1000 ns, less what `gain` says of each step.
MeasurePlan formula(std::function<double(const graph::PlanStep&)> gain) {
  return [gain = std::move(gain)](const graph::RewritePlan& plan) {
    PlanTrial trial{.plan = plan, .ok = true, .time_ns = 1000, .before_ns = 1000};
    for (const graph::PlanStep& step : plan.steps) trial.time_ns -= gain(step);
    return trial;
  };
}

TEST(PlanSearch, CombinesWhatWinsAlone) {
  const auto measure =
      formula([](const graph::PlanStep& step) { return step.params.at("p") == 2 ? 100.0 : -50.0; });
  const auto result = search_plans(places({{0, 1}, {2, 3}, {4, 5}}), measure, {}, 1);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->plan.steps.size(), 3u);
  EXPECT_EQ(result.best->time_ns, 700);
}

TEST(PlanSearch, NeverTriesOverlappingPlacesTogetherNorAPlanTwice) {
  std::set<std::string> seen;
  const auto measure = [&](const graph::RewritePlan& plan) {
    EXPECT_TRUE(plan.is_disjoint());
    EXPECT_FALSE(plan.steps.empty());
    EXPECT_TRUE(seen.insert(to_text(plan)).second) << to_text(plan);
    return formula([](const graph::PlanStep& step) {
      return 10.0 * static_cast<double>(step.nodes.front() + step.params.at("p"));
    })(plan);
  };
  const auto result = search_plans(places({{0, 1}, {1, 2}, {2, 3}, {3, 4}}), measure, {}, 3);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->time_ns, 1000 - 10 * (1 + 3) - 10 * (3 + 3));
}

TEST(PlanSearch, FindsPairsThatWinOnlyTogetherWithTheBest) {
  // The place {4, 5} loses alone and wins beside {0, 1}.
  const auto measure = [](const graph::RewritePlan& plan) {
    PlanTrial trial{.plan = plan, .ok = true, .time_ns = 1000, .before_ns = 1000};
    bool first = false, last = false;
    for (const graph::PlanStep& step : plan.steps) {
      first |= step.nodes.front() == 0;
      last |= step.nodes.front() == 4;
    }
    trial.time_ns += (first ? -100 : 0) + (last ? (first ? -200 : 100) : 0);
    return trial;
  };
  const auto result = search_plans(places({{0, 1}, {2, 3}, {4, 5}}), measure, {}, 1);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->time_ns, 700);
}

TEST(PlanSearch, HasNoWinnerWhereNothingIsFaster) {
  const auto slower = formula([](const graph::PlanStep&) { return -1.0; });
  EXPECT_FALSE(search_plans(places({{0, 1}, {2, 3}}), slower, {}, 1).best);
  const auto within_noise = formula([](const graph::PlanStep&) { return 2.0; });
  EXPECT_FALSE(search_plans(places({{0, 1}}), within_noise, {.noise = 0.01}, 1).best);
}

TEST(PlanSearch, FailuresAreTrialsLikeOthers) {
  const auto fails = [](const graph::RewritePlan& plan) {
    return PlanTrial{.plan = plan, .cause = "crashed"};
  };
  const auto result = search_plans(places({{0, 1}, {2, 3}}), fails, {}, 1);
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.trials.size(), 6u);
}

TEST(PlanSearch, KeepsItsLimits) {
  const auto measure = formula([](const graph::PlanStep&) { return 100.0; });
  const auto all = places({{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  EXPECT_EQ(search_plans(all, measure, {.trials = 5}, 1).trials.size(), 5u);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(search_plans(all, measure, {.stop = stop.get_token()}, 1).trials.empty());
  const PlanSearchLimits late{.deadline = Deadline(std::chrono::steady_clock::now())};
  EXPECT_TRUE(search_plans(all, measure, late, 1).trials.empty());
}

}  // namespace
}  // namespace aoe::tuner
