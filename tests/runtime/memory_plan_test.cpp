// The memory plan: what lives together does not overlap, what lies inside does, and nothing is
// wasted beyond the sum.
#include "runtime/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/check.h"

namespace aoe::runtime {
namespace {

TEST(MemoryPlan, EmptyNeedsNothing) {
  const MemoryPlan plan = plan_memory({});
  EXPECT_EQ(plan.arena_bytes, 0u);
  EXPECT_TRUE(plan.offsets.empty());
}

TEST(MemoryPlan, ChainAlternatesBetweenTwoPlaces) {
  std::vector<PlanTensor> chain;
  for (int i = 0; i < 10; ++i)
    chain.push_back({.size_bytes = 1000, .first_step = i, .last_step = i + 1});
  EXPECT_EQ(plan_memory(chain).arena_bytes, 2 * 1024u);
  EXPECT_EQ(plan_memory(chain, /*reuse=*/false).arena_bytes, 10 * 1024u);
}

TEST(MemoryPlan, InsideExtendsTheLifeOfTheOuterTensor) {
  // 0 is written into the second half of 1 before 1's own first step; 2 must not take its place
  // meanwhile.
  const std::vector<PlanTensor> tensors = {
      {.size_bytes = 64, .first_step = 0, .last_step = 5, .inside = 1, .inside_offset = 64},
      {.size_bytes = 128, .first_step = 3, .last_step = 5},
      {.size_bytes = 128, .first_step = 1, .last_step = 2},
  };
  const MemoryPlan plan = plan_memory(tensors);
  EXPECT_EQ(plan.offsets[0], plan.offsets[1] + 64);
  EXPECT_EQ(plan.arena_bytes, 256u);
}

TEST(MemoryPlan, RefusesWhatDoesNotFitInside) {
  const std::vector<PlanTensor> tensors = {{.size_bytes = 100, .inside = 1, .inside_offset = 64},
                                           {.size_bytes = 128}};
  EXPECT_THROW(plan_memory(tensors), InternalError);
}

TEST(MemoryPlan, RefusesCycles) {
  const std::vector<PlanTensor> tensors = {{.size_bytes = 8, .inside = 1},
                                           {.size_bytes = 8, .inside = 0}};
  EXPECT_THROW(plan_memory(tensors), InternalError);
}

std::vector<PlanTensor> random_tensors(std::mt19937& random) {
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  std::vector<PlanTensor> tensors(static_cast<std::size_t>(draw(1, 40)));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    PlanTensor& t = tensors[i];
    t.first_step = draw(0, 30);
    t.last_step = t.first_step + draw(0, 8);
    t.size_bytes = static_cast<std::uint64_t>(draw(0, 3) == 0 ? draw(0, 3) : draw(1, 5000));
    if (i == 0 || draw(0, 3) != 0) continue;
    t.inside = draw(0, static_cast<int>(i) - 1);  // only earlier ones: no cycles, but chains
    const std::uint64_t outer_bytes = tensors[static_cast<std::size_t>(t.inside)].size_bytes;
    t.size_bytes = std::min(t.size_bytes, outer_bytes);
    t.inside_offset = (outer_bytes - t.size_bytes) / 2;
  }
  return tensors;
}

bool share_a_root(std::span<const PlanTensor> tensors, std::size_t a, std::size_t b) {
  const auto root = [&](std::size_t i) {
    while (tensors[i].inside >= 0) i = static_cast<std::size_t>(tensors[i].inside);
    return i;
  };
  return root(a) == root(b);
}

void check_plan(std::span<const PlanTensor> tensors, const MemoryPlan& plan) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const PlanTensor& a = tensors[i];
    EXPECT_LE(plan.offsets[i] + a.size_bytes, plan.arena_bytes);
    if (a.inside >= 0) {
      EXPECT_EQ(plan.offsets[i],
                plan.offsets[static_cast<std::size_t>(a.inside)] + a.inside_offset);
    } else {
      EXPECT_EQ(plan.offsets[i] % 64, 0u);
      sum += (a.size_bytes + 63) / 64 * 64;
    }
    for (std::size_t j = 0; j < i; ++j) {
      const PlanTensor& b = tensors[j];
      const bool live_together = a.first_step <= b.last_step && b.first_step <= a.last_step;
      if (!live_together || share_a_root(tensors, i, j)) continue;
      const bool apart = plan.offsets[i] + a.size_bytes <= plan.offsets[j] ||
                         plan.offsets[j] + b.size_bytes <= plan.offsets[i];
      EXPECT_TRUE(apart) << "tensors " << i << " and " << j << " overlap";
    }
  }
  EXPECT_LE(plan.arena_bytes, sum);
}

TEST(MemoryPlan, HoldsItsPromisesForRandomLives) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const std::vector<PlanTensor> tensors = random_tensors(random);
    check_plan(tensors, plan_memory(tensors));
    check_plan(tensors, plan_memory(tensors, /*reuse=*/false));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace aoe::runtime
