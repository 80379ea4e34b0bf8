// Medians and paired verdicts on known distributions.
#include "base/statistics.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/check.h"

namespace aoe {
namespace {

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_THROW((void)median(std::vector<double>{}), InternalError);
}

Verdict verdict(const std::vector<double>& before, const std::vector<double>& after) {
  return compare_pairs(before, after, 0.005).verdict;
}

TEST(ComparePairs, ClearCases) {
  const std::vector<double> slow(15, 200.0);
  const std::vector<double> fast(15, 100.0);
  EXPECT_EQ(verdict(slow, fast), Verdict::kFaster);
  EXPECT_EQ(verdict(fast, slow), Verdict::kSlower);
  EXPECT_EQ(verdict(slow, slow), Verdict::kSame);
  EXPECT_DOUBLE_EQ(compare_pairs(slow, fast, 0).speedup, 2);
}

TEST(ComparePairs, FewPairsProveNothing) {
  EXPECT_EQ(verdict({200, 200, 200, 200, 200}, {100, 100, 100, 100, 100}), Verdict::kAmbiguous);
  EXPECT_EQ(verdict({200, 200, 200, 200, 200, 200}, {100, 100, 100, 100, 100, 100}),
            Verdict::kFaster);
  EXPECT_EQ(verdict({}, {}), Verdict::kAmbiguous);
}

TEST(ComparePairs, OneThatEndedEarlyIsComparedAsFarAsItWent) {
  const std::vector<double> before = {100, 101, 99, 100, 102, 98, 100, 100, 1, 1, 1};
  const std::vector<double> after(8, 200.0);
  const Comparison c = compare_pairs(before, after, 0.005);
  EXPECT_EQ(c.verdict, Verdict::kSlower);
  EXPECT_DOUBLE_EQ(c.speedup, 0.5);
}

TEST(ComparePairs, WildSamplesDoNotDecide) {
  std::vector<double> before(15, 100.0);
  std::vector<double> after(15, 90.0);
  for (int i = 0; i < 3; ++i)
    after[static_cast<std::size_t>(4 * i)] = 5000;  // somebody else used the machine
  EXPECT_EQ(verdict(before, after), Verdict::kFaster);
}

/// 60 pairs of 6 loads; in each the second model's times lie off by its load's factor.
Comparison compare_loads(const std::vector<double>& factors) {
  std::vector<double> before, after;
  std::vector<std::size_t> begins;
  for (const double factor : factors) {
    begins.push_back(before.size());
    for (int i = 0; i < 10; ++i) {
      before.push_back(100 + i % 3);
      after.push_back((100 + i % 3) / factor);
    }
  }
  return compare_groups(before, after, begins, 0.005);
}

TEST(CompareGroups, WhatLoadsDifferByIsNoGain) {
  EXPECT_EQ(compare_loads({1.03, 1.02, 1.03, 0.99, 1.04, 1.02}).verdict, Verdict::kAmbiguous);
  const Comparison gain = compare_loads({1.03, 1.02, 1.03, 1.01, 1.04, 1.02});
  EXPECT_EQ(gain.verdict, Verdict::kFaster);
  EXPECT_DOUBLE_EQ(gain.speedup, 1.025);
  EXPECT_NEAR(gain.low, 1.01, 1e-9);
  EXPECT_NEAR(gain.high, 1.04, 1e-9);
}

/// So many pairs of two loads of the same code are told from chance, and yet are chance.
TEST(CompareGroups, FewGroupsAreComparedByTheirPairsAndAgree) {
  EXPECT_EQ(compare_loads({1.03, 1.03}).verdict, Verdict::kFaster);
  const Comparison apart = compare_loads({1.08, 1.08, 0.99});
  EXPECT_EQ(apart.verdict, Verdict::kAmbiguous);
  EXPECT_NEAR(apart.low, 0.99, 1e-9);
  EXPECT_EQ(compare_groups(std::vector<double>{}, std::vector<double>{}, {}, 0.005).verdict,
            Verdict::kAmbiguous);
  const std::vector<double> fast(6, 100.0), slow(6, 200.0);
  const std::size_t beyond_the_end[] = {0, 6, 9};
  EXPECT_EQ(compare_groups(slow, fast, beyond_the_end, 0.005).verdict, Verdict::kFaster);
}

TEST(ComparePairs, IntervalCoversTheTruthAsOftenAsItSays) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> noise(0, 0.1);
  int covered = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> before;
    std::vector<double> after;
    for (int i = 0; i < 21; ++i) {
      before.push_back(120 * noise(random));
      after.push_back(100 * noise(random));
    }
    const Comparison c = compare_pairs(before, after, 0);
    covered += c.low <= 1.2 && 1.2 <= c.high ? 1 : 0;
    EXPECT_LE(c.low, c.speedup);
    EXPECT_LE(c.speedup, c.high);
  }
  EXPECT_GE(covered, 0.93 * kRuns) << "seed 7";
}

TEST(ComparePairs, NoiseAloneIsRarelyCalledAGain) {
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> noise(0, 0.1);
  int false_gains = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> before;
    std::vector<double> after;
    for (int i = 0; i < 21; ++i) {
      before.push_back(100 * noise(random));
      after.push_back(100 * noise(random));
    }
    false_gains += verdict(before, after) == Verdict::kFaster ? 1 : 0;
  }
  EXPECT_LE(false_gains, 0.03 * kRuns) << "seed 11";
}

}  // namespace
}  // namespace aoe
