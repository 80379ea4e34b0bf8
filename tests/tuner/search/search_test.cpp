// The search of one task against formulas: it finds what there is, within its limits, and does it again from the same seed.
#include "tuner/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tests/tuner/fakes.h"
#include "tuner/search/features.h"

namespace aoe::tuner {
namespace {
using compiler::Candidate;
using compiler::Schedule;
using tests::bowl;
using tests::FakeImpl;
using tests::FakeMeasurer;

class Search : public ::testing::Test {
 protected:
  SearchResult run(Measurer& measurer, std::vector<Candidate> seeds, int trials,
                   std::uint64_t seed = 1) {
    const SearchTask what{.task = task_,
                          .soc = soc_,
                          .default_candidate = impl_.at(1, 1),
                          .seeds = std::move(seeds),
                          .least_ns = least_ns_,
                          .recall = recall_};
    Random random(seed);
    return search(what, measurer, policy_, {.trials = trials, .deadline = {}, .stop = stop_},
                  random);
  }

  /// Every Schedule of tasks of other sizes.
  CostModel experience_of_other_tasks() const {
    std::vector<Lesson> lessons;
    for (const std::int64_t channels : {16, 32, 128, 256}) {
      const compiler::Task other = tests::fake_task(channels);
      const Candidate by_default = impl_.at(1, 1);
      FeatureSource source(other, soc_, WeightsIn::kMemory, by_default);
      for (const Schedule& s : enumerate(*impl_.plan(other, {}, soc_), 1000)) {
        const Candidate c{&impl_, FakeImpl::format("NCHW"), s};
        lessons.push_back({"fake", 1, source.of(c), std::log(bowl(c) / bowl(by_default))});
      }
    }
    CostModel experience;
    experience.learn(std::move(lessons));
    return experience;
  }

  const compiler::Task task_ = tests::fake_task();
  const compiler::Soc soc_ = tests::fake_soc();
  const FakeImpl impl_{"fake"};
  SearchPolicy policy_;
  double least_ns_ = 0;
  std::stop_token stop_;
  std::function<std::optional<Timing>(const Candidate&)> recall_;
};

TEST_F(Search, FindsTheBestScheduleOfASmallSpace) {
  FakeMeasurer measurer(bowl);
  const SearchResult result = run(measurer, {}, 200);
  EXPECT_EQ(result.best()->candidate.schedule, (compiler::Schedule{{"tile", 16}, {"unroll", 6}}));
  EXPECT_EQ(to_text(result.default_trial().candidate), to_text(impl_.at(1, 1)));
}

TEST_F(Search, SeveralSeedsFindEquallyGoodOnesUnderNoise) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    FakeMeasurer measurer(bowl, 0.05, seed);
    const SearchResult result = run(measurer, {}, 60, seed);
    EXPECT_LE(bowl(result.best()->candidate), 120) << "seed " << seed;
  }
}

TEST_F(Search, SameSeedSameTrials) {
  FakeMeasurer first(bowl);
  FakeMeasurer second(bowl);
  const SearchResult a = run(first, {}, 40, 5);
  const SearchResult b = run(second, {}, 40, 5);
  ASSERT_EQ(a.trials.size(), b.trials.size());
  for (std::size_t i = 0; i < a.trials.size(); ++i)
    EXPECT_EQ(to_text(a.trials[i].candidate), to_text(b.trials[i].candidate));
}

/// Six axes of eight values: far more Schedules than trials.
class WideImpl final : public FakeImpl {
 public:
  WideImpl() : FakeImpl("wide") {}
  std::unique_ptr<compiler::Plan> plan(const compiler::Task& task,
                                       const compiler::FormatChoice& format,
                                       const compiler::Soc& soc) const override {
    std::vector<compiler::ScheduleAxis> axes;
    for (const char* name : {"a", "b", "c", "d", "e", "f"})
      axes.push_back({name, {0, 1, 2, 3, 4, 5, 6, 7}});
    return std::make_unique<tests::FakePlan>(
        task, format, soc, std::move(axes),
        [](const Schedule& s) { return s.at("a") + s.at("b") < 12; });
  }
};

/// Axes that matter together, one that matters much and one that does not at all; 100 at best.
double rugged(const Candidate& c) {
  const auto at = [&](const char* axis) { return static_cast<double>(c.schedule.at(axis)); };
  return 100 + 8 * std::abs(at("a") - 5) + 6 * std::abs(at("b") - at("a")) +
         4 * std::abs(at("c") - 2) + 3 * std::abs(at("d") * at("e") - 12);
}

TEST_F(Search, FindsAGoodScheduleInFewerTrialsThanRandomDraws) {
  const WideImpl wide;
  const Candidate start{&wide, FakeImpl::format("NCHW"), wide.plan(task_, {}, soc_)->heuristic()};
  policy_.patience = 10000;
  policy_.min_expected_gain = 0;
  constexpr int kMost = 400;
  const auto is_good = [](const Candidate& c) { return rugged(c) <= 110; };
  int searched = 0, drawn = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    FakeMeasurer measurer(rugged, 0.02, seed);
    Random random(seed);
    const SearchTask what{.task = task_, .soc = soc_, .default_candidate = start};
    const SearchResult result = search(what, measurer, policy_, {.trials = kMost}, random);
    for (std::size_t i = 0; i < result.trials.size(); ++i, ++searched)
      if (is_good(result.trials[i].candidate)) break;
    for (int i = 0; i < kMost; ++i, ++drawn)
      if (is_good({&wide, start.format, *draw(*wide.plan(task_, {}, soc_), random)})) break;
  }
  RecordProperty("searched", searched);
  RecordProperty("drawn", drawn);
  EXPECT_LT(3 * searched, drawn) << "trials of seeds 1 to 5 together";
}

TEST_F(Search, ExperienceOfOtherTasksIsAmongTheFirstMeasured) {
  const CostModel experience = experience_of_other_tasks();
  const SearchTask what{
      .task = task_, .soc = soc_, .default_candidate = impl_.at(1, 1), .experience = &experience};
  Random random(1);
  FakeMeasurer measurer(bowl);
  const SearchResult result = search(what, measurer, policy_, {.trials = 3}, random);
  EXPECT_LE(bowl(result.best()->candidate), 110);
}

TEST_F(Search, PredictsWithoutMeasuringTheBestOfEachFormat) {
  const CostModel experience = experience_of_other_tasks();
  const SearchTask what{.task = task_,
                        .soc = soc_,
                        .default_candidate = impl_.at(1, 1),
                        .seeds = {impl_.at(64, 1), impl_.at(8, 4), impl_.at(2, 2)},
                        .experience = &experience};
  const std::vector<Prediction> predictions = predict(what);
  ASSERT_EQ(predictions.size(), 1U) << "one Format";
  EXPECT_EQ(to_text(predictions.front().candidate), to_text(impl_.at(8, 4)));
}

TEST_F(Search, PredictsTheDefaultFarFromAllLessons) {
  const CostModel experience = experience_of_other_tasks();
  const compiler::Task far = tests::fake_task(64 * 1024);
  const SearchTask what{.task = far,
                        .soc = soc_,
                        .default_candidate = impl_.at(1, 1),
                        .seeds = {impl_.at(8, 4)},
                        .experience = &experience};
  const std::vector<Prediction> predictions = predict(what);
  ASSERT_EQ(predictions.size(), 1U);
  EXPECT_EQ(to_text(predictions.front().candidate), to_text(impl_.at(1, 1)));
}

TEST_F(Search, EndsWhenNothingIsExpectedToBeGained) {
  policy_.patience = 1000;
  FakeMeasurer measurer(bowl);
  const SearchResult result = run(measurer, {}, 500);
  EXPECT_EQ(result.ended_by, "gain");
  EXPECT_EQ(bowl(result.best()->candidate), 100);
}

TEST_F(Search, KeepsTheTrialLimitAndRepeatsNoCandidate) {
  policy_.patience = 1000;
  FakeMeasurer measurer(bowl);
  const SearchResult result = run(measurer, {impl_.at(1, 1), impl_.at(2, 2), impl_.at(2, 2)}, 30);
  EXPECT_EQ(result.ended_by, "trials");
  EXPECT_EQ(measurer.measured, 30);
  std::set<std::string> texts;
  for (const Trial& trial : result.trials)
    EXPECT_TRUE(texts.insert(to_text(trial.candidate)).second);
}

TEST_F(Search, KeepsTheTrialLimitWithMoreSeedsThanTrials) {
  std::vector<Candidate> seeds;
  for (std::int64_t unroll = 1; unroll <= 8; ++unroll) seeds.push_back(impl_.at(2, unroll));
  for (const int limit : {1, 3, 8}) {
    FakeMeasurer measurer(bowl);
    EXPECT_EQ(run(measurer, seeds, limit).ended_by, "trials");
    EXPECT_EQ(measurer.measured, limit);
  }
}

TEST_F(Search, EndsWhenTheSpaceIsExhausted) {
  policy_.patience = 1000;
  const FakeImpl small("small", 1);  // 8 legal Schedules
  FakeMeasurer measurer([](const Candidate&) { return 100.0; });
  const SearchTask what{.task = task_, .soc = soc_, .default_candidate = small.at(1, 1)};
  Random random(1);
  const SearchResult result =
      search(what, measurer, policy_, {.trials = 500, .deadline = {}, .stop = {}}, random);
  EXPECT_EQ(result.ended_by, "exhausted");
  EXPECT_EQ(measurer.measured, 8);
}

TEST_F(Search, EndsAtTheRoof) {
  policy_.min_expected_gain = 0;
  FakeMeasurer unbounded(bowl), measurer(bowl), out_of_reach(bowl);
  const SearchResult patient = run(unbounded, {}, 200);
  const double best_ns = patient.best()->timing.median_ns();
  least_ns_ = best_ns / 1.01;
  const SearchResult result = run(measurer, {}, 200);
  EXPECT_EQ(result.ended_by, "roof");
  EXPECT_EQ(to_text(result.best()->candidate), to_text(patient.best()->candidate));
  EXPECT_LT(measurer.measured, unbounded.measured);
  least_ns_ = best_ns / 1.05;
  EXPECT_EQ(run(out_of_reach, {}, 200).ended_by, patient.ended_by);
}

TEST_F(Search, LosesPatienceOnAFlatLandscape) {
  policy_.patience = 20;
  FakeMeasurer measurer([](const Candidate&) { return 100.0; });
  const SearchResult result = run(measurer, {}, 500);
  EXPECT_EQ(result.ended_by, "patience");
  EXPECT_LE(measurer.measured, 20 + 1 + policy_.batch_size);
}

TEST_F(Search, WrongCandidatesNeverWin) {
  const auto cost = [](const Candidate& c) { return c.schedule.at("tile") == 16 ? -1.0 : bowl(c); };
  FakeMeasurer measurer(cost);
  const SearchResult result = run(measurer, {}, 200);
  EXPECT_NE(result.best()->candidate.schedule.at("tile"), 16);
  EXPECT_EQ(bowl(result.best()->candidate), 120);  // the best of what is right
}

TEST_F(Search, SpendsItsTrialsOnTheArmThatLeads) {
  policy_.patience = 1000;
  const FakeImpl slow("slow");
  FakeMeasurer measurer(
      [&](const Candidate& c) { return c.impl == &slow ? 3 * bowl(c) : bowl(c); });
  const SearchResult result = run(measurer, {slow.at(1, 1)}, 60);
  int of_slow = 0;
  for (const Trial& trial : result.trials) of_slow += trial.candidate.impl == &slow ? 1 : 0;
  EXPECT_LE(of_slow, 12);
  EXPECT_GE(of_slow, 1);
}

TEST_F(Search, AllFailuresEndWithoutABest) {
  FakeMeasurer measurer([](const Candidate&) { return -1.0; });
  const SearchResult result = run(measurer, {impl_.at(2, 2)}, 100);
  EXPECT_EQ(result.best(), nullptr);
  EXPECT_EQ(result.trials.size(), 2U);
  EXPECT_EQ(result.default_trial().timing.outcome, Outcome::kWrongResult);
}

TEST_F(Search, ResumedSearchRepeatsNoMeasurementAndEndsAsIfNeverInterrupted) {
  policy_.patience = 1000;
  policy_.min_expected_gain = 0;
  FakeMeasurer whole(bowl, 0.05, 9);
  const SearchResult uninterrupted = run(whole, {}, 48, 3);
  std::map<std::string, Timing> known;
  for (std::size_t i = 0; i < 25; ++i)
    known[to_text(uninterrupted.trials[i].candidate)] = uninterrupted.trials[i].timing;
  recall_ = [&](const Candidate& c) -> std::optional<Timing> {
    const auto found = known.find(to_text(c));
    if (found == known.end()) return std::nullopt;
    return found->second;
  };
  FakeMeasurer rest(bowl);
  const SearchResult resumed = run(rest, {}, 48, 3);
  ASSERT_EQ(resumed.trials.size(), uninterrupted.trials.size());
  EXPECT_EQ(rest.measured, 48 - 25);
  for (std::size_t i = 0; i < resumed.trials.size(); ++i)
    EXPECT_EQ(resumed.trials[i].is_recalled, known.contains(to_text(resumed.trials[i].candidate)));
}

TEST_F(Search, StopsWhenAsked) {
  std::stop_source source;
  stop_ = source.get_token();
  FakeMeasurer measurer([&](const Candidate& c) {
    source.request_stop();
    return bowl(c);
  });
  EXPECT_EQ(run(measurer, {}, 500).ended_by, "stopped");
  EXPECT_EQ(measurer.measured, 1);
}

}  // namespace
}  // namespace aoe::tuner
