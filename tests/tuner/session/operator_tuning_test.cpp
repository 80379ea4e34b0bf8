// What one task's tuning decides, records and attributes, with measurements from formulas.
#include "tuner/session/operator_tuning.h"

#include <gtest/gtest.h>

#include "tests/tuner/fakes.h"
#include "tuner/session/attribution.h"

namespace aoe::tuner {
namespace {
using compiler::Candidate;
using tests::bowl;
using tests::FakeImpl;
using tests::FakeMeasurer;

class OperatorTuning : public ::testing::Test {
 protected:
  OperatorTuning() {
    task_.task = tests::fake_task();
    task_.key = {"{\"op\":\"Relu\"}", soc_.version};
    task_.nodes = {"relu_1"};
    task_.op_types = {"Relu"};
    task_.default_candidate = impl_.at(1, 1);
    task_.heuristics = {impl_.at(1, 1), impl_.at(1, 1, "NHWC"), other_.at(1, 1),
                        other_.at(1, 1, "NHWC")};
  }

  Conclusion tune(Measurer& measurer, std::vector<bank::Record> known = {},
                  std::stop_token stop = {}) {
    const OperatorTuningContext context{
        .soc = soc_, .policy = policy_, .policy_text = "test-1", .origin = origin_, .seed = 1};
    const OperatorTuningInput input{.task = task_,
                                    .records = std::move(known),
                                    .limits = {.trials = 120, .deadline = {}, .stop = stop},
                                    .keep_records =
                                        [this](std::vector<bank::Record> more) {
                                          records_.insert(records_.end(), more.begin(), more.end());
                                        },
                                    .on_batch = [](const SearchResult&) {}};
    return tune_operator(input, measurer, context);
  }

  const compiler::Soc soc_ = tests::fake_soc();
  const FakeImpl impl_{"fake"};
  const FakeImpl other_{"other"};
  Policy policy_;
  const bank::Provenance origin_{.engine = "1.2.3", .model = "net"};
  OperatorTask task_;
  std::vector<bank::Record> records_;
};

TEST_F(OperatorTuning, BetterThanTheDefaultIsAnAddWithTheBestOfEveryFormat) {
  FakeMeasurer measurer(
      [](const Candidate& c) { return bowl(c) * (c.format.name == "NHWC" ? 1.1 : 1.0); }, 0.01);
  const Conclusion conclusion = tune(measurer);
  ASSERT_EQ(conclusion.decision, Decision::kAdd);
  ASSERT_EQ(conclusion.strategies.size(), 2U);
  EXPECT_EQ(conclusion.strategies[0].format, "NCHW");
  EXPECT_EQ(conclusion.strategies[1].format, "NHWC");
  EXPECT_EQ(conclusion.strategies[0].measured.verdict, "faster");
  EXPECT_EQ(conclusion.strategies[0].measured.policy, "test-1");
  EXPECT_EQ(conclusion.strategies[0].measured.threads, 2);
  EXPECT_GT(conclusion.strategies[0].measured.trials, 4);
  EXPECT_LT(conclusion.best_ns, conclusion.default_ns);
}

TEST_F(OperatorTuning, AWinnerSaysWhereItWasWonAndWithHowManySamples) {
  FakeMeasurer measurer(bowl, 0.01);
  const Conclusion conclusion = tune(measurer);
  ASSERT_EQ(conclusion.decision, Decision::kAdd);
  const bank::Provenance& from = conclusion.strategies[0].provenance;
  EXPECT_EQ(from.engine, "1.2.3");
  EXPECT_EQ(from.model, "net");
  EXPECT_EQ(from.node, "relu_1");
  EXPECT_GE(from.won.count, 6);
  EXPECT_EQ(from.won.median_ns, conclusion.best_ns);
  EXPECT_EQ(from.by_default.median_ns, conclusion.default_ns);
  EXPECT_GT(from.by_default.spread_ns, 0);
  for (const bank::Record& record : conclusion.race_records)
    EXPECT_TRUE(record.strategy.provenance.is_empty());
}

TEST_F(OperatorTuning, NothingBetterIsUnsatisfiedAndKnowsTheFormats) {
  task_.default_candidate = impl_.at(16, 6);  // the best there is
  FakeMeasurer measurer(bowl, 0.01);
  const Conclusion conclusion = tune(measurer);
  EXPECT_EQ(conclusion.decision, Decision::kUnsatisfied);
  EXPECT_FALSE(bank::StrategySet{conclusion.strategies}.has_winner());
  ASSERT_EQ(conclusion.strategies.size(), 2U);
  EXPECT_EQ(to_text(conclusion.strategies[0]), to_text(impl_.at(16, 6)));
  EXPECT_EQ(conclusion.strategies[1].format, "NHWC");
}

TEST_F(OperatorTuning, NoiseAloneWinsNothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FakeMeasurer measurer([](const Candidate&) { return 100.0; }, 0.2, seed);
    const Conclusion conclusion = tune(measurer);
    EXPECT_EQ(conclusion.decision, Decision::kUnsatisfied) << "seed " << seed;
    EXPECT_FALSE(bank::StrategySet{conclusion.strategies}.has_winner()) << "seed " << seed;
  }
}

TEST_F(OperatorTuning, UnmeasurableDefaultFailsWithItsCause) {
  FakeMeasurer measurer(
      [&](const Candidate& c) { return to_text(c) == "fake/NCHW/tile=1,unroll=1" ? -1 : bowl(c); });
  const Conclusion conclusion = tune(measurer);
  EXPECT_EQ(conclusion.decision, Decision::kFailed);
  EXPECT_EQ(conclusion.cause, "wrong_result: off by one");
}

TEST_F(OperatorTuning, StopDecidesNothingButKeepsRecords) {
  std::stop_source stop;
  FakeMeasurer measurer([&](const Candidate& c) {
    stop.request_stop();
    return bowl(c);
  });
  EXPECT_EQ(tune(measurer, {}, stop.get_token()).decision, Decision::kStopped);
  EXPECT_EQ(records_.size(), static_cast<std::size_t>(measurer.measured));
}

TEST_F(OperatorTuning, EveryMeasurementBecomesARecordWinnerOrNot) {
  FakeMeasurer measurer([&](const Candidate& c) { return c.impl == &other_ ? -1 : bowl(c); });
  const Conclusion conclusion = tune(measurer);
  EXPECT_EQ(records_.size(), static_cast<std::size_t>(measurer.measured));
  EXPECT_EQ(conclusion.measured, measurer.measured);
  int wrong = 0;
  for (const bank::Record& record : records_) {
    if (record.status == "ok") continue;
    EXPECT_EQ(record.status, "wrong_result");
    EXPECT_EQ(record.detail, "off by one");
    ++wrong;
  }
  EXPECT_EQ(wrong, 2);  // the two heuristics of `other`
  EXPECT_GE(conclusion.race_records.size(), 2U);
}

TEST_F(OperatorTuning, RecordsOfAnInterruptedRunAreNotMeasuredAgain) {
  FakeMeasurer first(bowl);
  (void)tune(first);
  const std::vector<bank::Record> known = records_;
  FakeMeasurer second(bowl);
  const Conclusion conclusion = tune(second, known);
  EXPECT_EQ(conclusion.decision, Decision::kAdd);
  // The search goes on with new candidates where it may, and repeats none of the old ones.
  EXPECT_EQ(conclusion.measured, second.measured);
  for (std::size_t i = known.size(); i < records_.size(); ++i)
    for (const bank::Record& old : known)
      EXPECT_NE(to_text(records_[i].strategy), to_text(old.strategy));
}

// ---- attribution ----

class Attribution : public OperatorTuning {
 protected:
  std::vector<ModeGain> gains(const Candidate& winner, double default_ns, double winner_ns) {
    return attribute_gain(result_, task_.default_candidate, winner, default_ns, winner_ns,
                          {{"tile", 1}, {"unroll", 1}});
  }
  void measured(const Candidate& candidate, double ns) {
    Timing timing;
    timing.samples_ns = {ns};
    result_.trials.push_back({candidate, timing, false});
  }
  SearchResult result_;
};

TEST_F(Attribution, OnlyTheScheduleChanged) {
  const auto list = gains(impl_.at(8, 8), 100e3, 60e3);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].mode, "Schedule");
  EXPECT_EQ(list[0].before_us, 100);
  EXPECT_EQ(list[0].after_us, 60);
}

TEST_F(Attribution, AllThreeModesChainFromDefaultToWinner) {
  measured(impl_.at(1, 1), 100e3);
  measured(impl_.at(1, 1, "NHWC"), 90e3);
  measured(other_.at(1, 1, "NHWC"), 70e3);
  measured(other_.at(8, 8, "NHWC"), 60e3);
  const auto list = gains(other_.at(8, 8, "NHWC"), 100e3, 60e3);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].mode, "Format");
  EXPECT_EQ(list[0].after_us, 90);
  EXPECT_EQ(list[1].mode, "Impl");
  EXPECT_EQ(list[1].before_us, 90);
  EXPECT_EQ(list[1].after_us, 70);
  EXPECT_EQ(list[2].mode, "Schedule");
  EXPECT_EQ(list[2].after_us, 60);
}

TEST_F(Attribution, AStepThatDidNotHelpIsLeftOut) {
  measured(impl_.at(1, 1, "NHWC"), 130e3);
  measured(other_.at(1, 1, "NHWC"), 55e3);
  const auto list = gains(other_.at(1, 1, "NHWC"), 100e3, 60e3);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].mode, "Impl");
  EXPECT_EQ(list[0].before_us, 100);
  EXPECT_EQ(list[0].after_us, 60);
}

}  // namespace
}  // namespace aoe::tuner
