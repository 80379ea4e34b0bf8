// Ranges of distributions that are known.
#include "quantize/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace aoe::quantize {
namespace {

Histogram histogram_of(const std::vector<float>& values) {
  Histogram histogram;
  histogram.widen(values);
  histogram.count(values);
  return histogram;
}

/// A bell around 0, and one number far away from it.
std::vector<float> bell_with_outlier(float outlier) {
  std::mt19937 random(7);
  std::normal_distribution<float> bell;
  std::vector<float> values(100000);
  for (float& value : values) value = bell(random);
  values.push_back(outlier);
  return values;
}

TEST(Histogram, MinMaxIsWhatWasSeen) {
  const Range range = histogram_of({-1.5f, 0, 2, 3.25f}).range(Method::kMinMax, 99.99);
  EXPECT_EQ(range.low, -1.5f);
  EXPECT_EQ(range.high, 3.25f);
}

TEST(Histogram, PercentileLeavesOutliersOutside) {
  const Histogram histogram = histogram_of(bell_with_outlier(50));
  const Range all = histogram.range(Method::kPercentile, 100);
  EXPECT_EQ(all.high, 50);
  const Range most = histogram.range(Method::kPercentile, 99.99);
  EXPECT_NEAR(most.high, 3.7, 0.5);  // the normal distribution's
  EXPECT_NEAR(most.low, -3.7, 0.5);
  EXPECT_LT(histogram.range(Method::kPercentile, 90).high, 1.5);
}

TEST(Histogram, EntropyLeavesAnOutlierOutsideAndABlockInside) {
  const Range cut = histogram_of(bell_with_outlier(50)).range(Method::kEntropy, 0);
  EXPECT_LT(cut.high, 10);
  EXPECT_GT(cut.high, 2);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> block(0, 1);
  std::vector<float> even(100000);
  for (float& value : even) value = block(random);
  const Range whole = histogram_of(even).range(Method::kEntropy, 0);
  EXPECT_GT(whole.high, 0.97);
  EXPECT_GE(whole.low, 0);
}

TEST(Histogram, ZerosOfActivationsDoNotPullTheCut) {
  std::vector<float> values = bell_with_outlier(5);
  const float without = histogram_of(values).range(Method::kEntropy, 0).high;
  values.resize(values.size() * 10, 0.0f);
  EXPECT_EQ(histogram_of(values).range(Method::kEntropy, 0).high, without);
}

TEST(Histogram, NumbersThatAreNotFiniteDoNotCount) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Method method : {Method::kMinMax, Method::kPercentile, Method::kEntropy}) {
    const Range range = histogram_of({-kInfinity, NAN, -1, 1, kInfinity}).range(method, 99.99);
    EXPECT_EQ(range.low, -1) << method_name(method);
    EXPECT_EQ(range.high, 1) << method_name(method);
    const Range nothing = histogram_of({NAN, kInfinity}).range(method, 99.99);
    EXPECT_EQ(nothing.low, 0) << method_name(method);
    EXPECT_EQ(nothing.high, 0) << method_name(method);
    const Range zeros = histogram_of({0, 0, 0}).range(method, 99.99);
    EXPECT_EQ(zeros.high, 0) << method_name(method);
  }
}

}  // namespace
}  // namespace aoe::quantize
