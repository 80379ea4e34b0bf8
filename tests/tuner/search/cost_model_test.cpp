// The cost model learns a made-up function, forgets nothing it should keep, and says the same twice.
#include "tuner/search/cost_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

#include "tests/temp_dir.h"
#include "tests/tuner/fakes.h"
#include "tuner/search/features.h"
#include "tuner/search/task_model.h"

namespace aoe::tuner {
namespace {
using compiler::Features;
using tests::FakeImpl;

constexpr unsigned kSeed = 7;

Features random_features(std::mt19937& random) {
  std::uniform_int_distribution<int> log_tile(0, 7), unroll(1, 8), log_size(4, 12);
  return {{kRooflineFeature, 1000.0},
          {"task.size", log_size(random)},
          {"axis.tile", std::exp2(log_tile(random))},
          {"axis.unroll", unroll(random)}};
}

/// The best tile grows with the task: what ranks the candidates of one task misranks another's.
double true_ratio(const Features& f) {
  const double size = *find_feature(f, "task.size");
  const double log_tile = std::log2(*find_feature(f, "axis.tile"));
  return 0.2 + 0.15 * std::abs(log_tile - size / 2) +
         0.08 * std::abs(*find_feature(f, "axis.unroll") - 5);
}

std::vector<Lesson> lessons(int count, std::mt19937& random, const std::string& impl = "fake") {
  std::normal_distribution<double> noise(0, 0.03);
  std::vector<Lesson> list;
  for (int i = 0; i < count; ++i) {
    Features features = random_features(random);
    const double ratio = true_ratio(features) + noise(random);
    list.push_back({impl, 1, std::move(features), ratio});
  }
  return list;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<double>(i);
  return rank;
}

/// Spearman's.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = static_cast<double>(x.size() - 1) / 2;
  double product = 0, square = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    product += (x[i] - mean) * (y[i] - mean);
    square += (x[i] - mean) * (x[i] - mean);
  }
  return product / square;
}

class CostModelTest : public ::testing::Test {
 protected:
  std::vector<double> predictions(const CostModel& model) const {
    return model.predict(impl_, unseen_);
  }

  CostModelTest() {
    std::mt19937 random(kSeed + 1);
    for (int i = 0; i < 200; ++i) unseen_.push_back(random_features(random));
    for (const Features& features : unseen_) truth_.push_back(true_ratio(features));
  }

  const FakeImpl impl_{"fake"};
  std::vector<Features> unseen_;
  std::vector<double> truth_;
};

/// As programs with a window set it.
TEST_F(CostModelTest, LearnsInAProgramWithADecimalComma) {
  const aoe::tests::TempDir dir;
  const std::string make = "localedef -i de_DE -f UTF-8 '" + (dir / "de_DE.UTF-8").string() + "'";
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "localedef cannot make de_DE.UTF-8";
  ::setenv("LOCPATH", dir.path().c_str(), 1);
  const bool is_set = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  ::unsetenv("LOCPATH");
  ASSERT_TRUE(is_set);
  std::mt19937 random(kSeed);
  CostModel model;
  EXPECT_NO_THROW(model.learn(lessons(100, random)));
  std::setlocale(LC_ALL, "C");
}

TEST_F(CostModelTest, RanksCandidatesItHasNotSeen) {
  std::mt19937 random(kSeed);
  CostModel model;
  model.learn(lessons(600, random));
  EXPECT_GT(rank_correlation(predictions(model), truth_), 0.9) << "seed " << kSeed;
}

TEST_F(CostModelTest, LearnsInSmallBatchesAsWell) {
  std::mt19937 random(kSeed);
  CostModel model;
  EXPECT_FALSE(model.knows(impl_));
  for (int batch = 0; batch < 60; ++batch) model.learn(lessons(10, random));
  ASSERT_TRUE(model.knows(impl_));
  EXPECT_GT(rank_correlation(predictions(model), truth_), 0.85) << "seed " << kSeed;
}

TEST_F(CostModelTest, SameLessonsSamePredictions) {
  std::vector<double> first;
  for (int run = 0; run < 2; ++run) {
    std::mt19937 random(kSeed);
    CostModel model;
    model.learn(lessons(300, random));
    if (run == 0)
      first = predictions(model);
    else
      EXPECT_EQ(predictions(model), first);
  }
}

/// A record says "four times" of whatever is hopeless. What an estimate said beyond that is no mistake of the estimate.
TEST_F(CostModelTest, HopelessLessonsMakeNothingLookFast) {
  const auto of_estimate = [](double ratio) {
    return Features{{kRooflineFeature, 1000.0},
                    {kEstimateFeature, std::log(ratio)},
                    {kDefaultEstimateFeature, 0.0}};
  };
  std::vector<Lesson> hopeless;
  for (int i = 0; i < 40; ++i)
    hopeless.push_back({"fake", 1, of_estimate(100 + i), worst_log_ratio()});
  CostModel model;
  model.learn(hopeless);
  for (const double ratio : {2.0, 5.0, 200.0}) {
    const Features candidate = of_estimate(ratio);
    EXPECT_GT(model.predict(impl_, std::span(&candidate, 1)).front(), std::log(1.5))
        << "estimated to take " << ratio << " times the default's time";
  }
}

TEST_F(CostModelTest, ImplsAndVersionsLearnApart) {
  std::mt19937 random(kSeed);
  CostModel model;
  std::vector<Lesson> others = lessons(100, random, "other");
  for (Lesson lesson : lessons(100, random)) {
    lesson.impl_version = 2;
    others.push_back(std::move(lesson));
  }
  model.learn(others);
  EXPECT_FALSE(model.knows(impl_));
  EXPECT_TRUE(model.knows(FakeImpl("other")));
}

TEST_F(CostModelTest, ForgetsTheOldestBeyondItsLimit) {
  std::mt19937 random(kSeed);
  std::vector<Lesson> wrong = lessons(CostModel::kMostLessonsOfAnImpl, random);
  for (Lesson& lesson : wrong) lesson.log_ratio = -lesson.log_ratio;
  CostModel model;
  model.learn(std::move(wrong));
  EXPECT_LT(rank_correlation(predictions(model), truth_), -0.9);
  model.learn(lessons(CostModel::kMostLessonsOfAnImpl, random));
  EXPECT_GT(rank_correlation(predictions(model), truth_), 0.9);
}

// ---- lessons ----

TEST_F(CostModelTest, FailuresAreLessonsAndOutsideCausesAreNone) {
  const Features features = {{kRooflineFeature, 100.0}};
  Timing ok;
  ok.samples_ns = {200};
  EXPECT_DOUBLE_EQ(lesson_of(impl_, features, ok, 100)->log_ratio, std::log(2));
  const auto failed = [&](Outcome outcome) {
    return lesson_of(impl_, features, Timing::failure(outcome, "why"), 100);
  };
  EXPECT_DOUBLE_EQ(failed(Outcome::kWrongResult)->log_ratio, worst_log_ratio());
  EXPECT_DOUBLE_EQ(failed(Outcome::kTimeout)->log_ratio, worst_log_ratio());
  EXPECT_FALSE(failed(Outcome::kStopped));
  EXPECT_FALSE(failed(Outcome::kKilled));
  EXPECT_FALSE(lesson_of(impl_, {}, ok, 100));  // nothing to learn from
  EXPECT_FALSE(lesson_of(impl_, features, ok, 0)) << "the default is not known";
}

TEST_F(CostModelTest, RecordsTeachTheSameAsMeasurements) {
  bank::Record record;
  record.strategy = compiler::strategy_of(impl_.at(4, 2));
  record.strategy.measured.time_ns = 300;
  record.strategy.measured.default_time_ns = 100;
  record.features = {{kRooflineFeature, 100.0}, {"axis.tile", 4.0}};
  bank::Record without_features = record;
  without_features.features.clear();
  bank::Record crashed = record;
  crashed.status = "crashed";
  bank::Record without_default = record;
  without_default.strategy.measured.default_time_ns = 0;
  const std::vector<bank::Record> records = {record, without_features, without_default, crashed};
  const auto list = lessons_of(records);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].impl, "fake");
  EXPECT_EQ(list[0].features, record.features);
  EXPECT_DOUBLE_EQ(list[0].log_ratio, std::log(3));
  EXPECT_DOUBLE_EQ(list[1].log_ratio, worst_log_ratio());
}

// ---- the task at hand ----

Timing of_ns(double ns) {
  Timing timing;
  timing.samples_ns = {ns};
  return timing;
}

TEST_F(CostModelTest, MeasurementsOfTheTaskCorrectWhatIsExpected) {
  const compiler::Task task = tests::fake_task();
  const compiler::Soc soc = tests::fake_soc();
  TaskModel model(task, soc, WeightsIn::kL3, impl_.at(1, 1), nullptr);
  const std::vector<compiler::Candidate> asked = {impl_.at(8, 4), impl_.at(32, 1)};
  EXPECT_NEAR(model.expected_ns(asked)[0], 1000, 1) << "the Impl's own estimate";
  // Everything takes ten times as long as the Impl thinks, and small tiles twice that.
  for (const std::int64_t tile : {1, 2, 4, 16, 32, 64})
    for (const std::int64_t unroll : {1, 2, 3})
      model.learn(impl_, model.features(impl_.at(tile, unroll)), of_ns(tile <= 8 ? 2e4 : 1e4));
  model.fit();
  const std::vector<double> expected = model.expected_ns(asked);
  EXPECT_NEAR(expected[0], 2e4, 2e3);
  EXPECT_NEAR(expected[1], 1e4, 1e3);
}

TEST_F(CostModelTest, AFailureMakesItsNeighboursLookSlow) {
  const compiler::Task task = tests::fake_task();
  const compiler::Soc soc = tests::fake_soc();
  TaskModel model(task, soc, WeightsIn::kL3, impl_.at(1, 1), nullptr);
  for (const std::int64_t unroll : {1, 2, 3, 4, 5}) {
    model.learn(impl_, model.features(impl_.at(4, unroll)), of_ns(1000));
    model.learn(impl_, model.features(impl_.at(64, unroll)),
                Timing::failure(Outcome::kWrongResult, "off by one"));
  }
  model.fit();
  const std::vector<compiler::Candidate> asked = {impl_.at(4, 8), impl_.at(64, 8)};
  const std::vector<double> expected = model.expected_ns(asked);
  EXPECT_LT(1.3 * expected[0], expected[1]);
}

}  // namespace
}  // namespace aoe::tuner
