// Draws, mutations and adaptations stay inside a Plan's Schedules and reach all of it.
#include "tuner/search/sampler.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/tuner/fakes.h"

namespace aoe::tuner {
namespace {
using compiler::Schedule;

std::unique_ptr<compiler::Plan> fake_plan(std::int64_t largest_tile) {
  return tests::FakeImpl("fake", largest_tile).plan(tests::fake_task(), {}, tests::fake_soc());
}

TEST(Sampler, DrawsReachEveryLegalPointAndNoOther) {
  const auto plan = fake_plan(4);
  Random random(3);
  std::set<Schedule> drawn;
  for (int i = 0; i < 2000; ++i) {
    const auto schedule = draw(*plan, random);
    ASSERT_TRUE(schedule);
    EXPECT_TRUE(plan->is_legal(*schedule));
    drawn.insert(*schedule);
  }
  EXPECT_EQ(drawn.size(), 3U * 8U) << "seed 3";
}

TEST(Sampler, MutationsChangeOneOrTwoAxesAndStayLegal) {
  const auto plan = fake_plan(64);
  const Schedule parent{{"tile", 8}, {"unroll", 3}};
  Random random(4);
  int tile_only = 0;
  int unroll_only = 0;
  for (int i = 0; i < 500; ++i) {
    const auto child = mutate(*plan, parent, random);
    ASSERT_TRUE(child);
    EXPECT_NE(*child, parent);
    EXPECT_TRUE(plan->is_legal(*child));
    tile_only += child->at("unroll") == 3 ? 1 : 0;
    unroll_only += child->at("tile") == 8 ? 1 : 0;
  }
  EXPECT_GT(tile_only, 100) << "seed 4";
  EXPECT_GT(unroll_only, 100) << "seed 4";
}

TEST(Sampler, MutationWalksFromEndToEnd) {
  const auto plan = fake_plan(128);
  Random random(5);
  Schedule at{{"tile", 1}, {"unroll", 1}};
  std::set<Schedule> visited;
  for (int i = 0; i < 5000; ++i) visited.insert(at = *mutate(*plan, at, random));
  EXPECT_EQ(visited.size(), 64U) << "seed 5";
}

TEST(Sampler, NothingToChangeIsANo) {
  const auto plan_of = [](std::vector<compiler::ScheduleAxis> axes, bool is_legal) {
    return tests::FakePlan(tests::fake_task(), {}, tests::fake_soc(), std::move(axes),
                           [=](const Schedule&) { return is_legal; });
  };
  Random random(1);
  EXPECT_FALSE(draw(plan_of({}, true), random));
  EXPECT_FALSE(mutate(plan_of({}, true), {}, random));
  EXPECT_TRUE(draw(plan_of({{"tile", {4}}}, true), random));
  EXPECT_FALSE(mutate(plan_of({{"tile", {4}}}, true), {{"tile", 4}}, random));
  EXPECT_FALSE(draw(plan_of({{"tile", {4}}}, false), random));
}

TEST(Sampler, CrossingsTakeEveryAxisFromAParent) {
  const auto plan = fake_plan(64);
  const Schedule mother{{"tile", 8}, {"unroll", 3}};
  const Schedule father{{"tile", 32}, {"unroll", 5}};
  Random random(6);
  std::set<Schedule> children;
  for (int i = 0; i < 100; ++i)
    if (const auto child = cross(*plan, mother, father, random)) children.insert(*child);
  EXPECT_EQ(children,
            (std::set<Schedule>{{{"tile", 8}, {"unroll", 5}}, {{"tile", 32}, {"unroll", 3}}}));
  EXPECT_FALSE(cross(*plan, mother, mother, random));
}

TEST(Sampler, SmallSpacesAreListedWholeAndLargeOnesNotAtAll) {
  const auto plan = fake_plan(4);
  const auto all = enumerate(*plan, 64);
  EXPECT_EQ(std::set<Schedule>(all.begin(), all.end()).size(), 3U * 8U);
  for (const Schedule& schedule : all) EXPECT_TRUE(plan->is_legal(schedule));
  EXPECT_TRUE(enumerate(*plan, 63).empty());
}

TEST(Sampler, SingleStepsAreTheLegalNeighboursOnEachAxis) {
  const auto plan = fake_plan(8);
  const std::vector<Schedule> inside = {{{"tile", 2}, {"unroll", 3}},
                                        {{"tile", 8}, {"unroll", 3}},
                                        {{"tile", 4}, {"unroll", 2}},
                                        {{"tile", 4}, {"unroll", 4}}};
  EXPECT_EQ(single_steps(*plan, {{"tile", 4}, {"unroll", 3}}), inside);
  const std::vector<Schedule> in_the_corner = {{{"tile", 4}, {"unroll", 8}},
                                               {{"tile", 8}, {"unroll", 7}}};
  EXPECT_EQ(single_steps(*plan, {{"tile", 8}, {"unroll", 8}}), in_the_corner);
}

TEST(Sampler, ForeignSchedulesMoveToTheNearestValues) {
  const auto plan = fake_plan(64);
  EXPECT_EQ(adapt(*plan, {{"tile", 48}, {"unroll", 20}, {"other", 1}}),
            (Schedule{{"tile", 64}, {"unroll", 8}}));
  EXPECT_EQ(adapt(*plan, {{"tile", 3}}), (Schedule{{"tile", 4}, {"unroll", 1}}));
  EXPECT_FALSE(adapt(*plan, {{"tile", 128}}));  // the nearest is illegal here
}

TEST(Sampler, TextsTellCandidatesApart) {
  const tests::FakeImpl impl("fake");
  EXPECT_EQ(to_text(impl.at(4, 2, "NHWC")), "fake/NHWC/tile=4,unroll=2");
  bank::Strategy same{"NHWC", "fake", 1, {{"unroll", 2}, {"tile", 4}}, {}};
  EXPECT_EQ(to_text(same), to_text(impl.at(4, 2, "NHWC")));
}

}  // namespace
}  // namespace aoe::tuner
