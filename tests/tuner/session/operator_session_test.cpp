// What a run of operator tuning wins, counts and reports, within its limits.
#include "tests/tuner/session/operator_session.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json_text.h"
#include "graph/import/gears.h"
#include "runtime/om/geared_om.h"

namespace aoe::tuner {
namespace {
using nlohmann::json;
using tests::kDefaultNs;
using tests::Session;
namespace fs = std::filesystem;

TEST_F(Session, WinnersAreKeptCountedAndInTheModel) {
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_EQ(outcome.tasks, kTasks);
  ASSERT_TRUE(outcome.model);
  EXPECT_EQ(outcome.model->paired.verdict, Verdict::kFaster);
  EXPECT_EQ(outcome.ended_by, RunEnd::kDone);
  EXPECT_EQ(result().at(0).at("basic").at("ended_by"), "done");
  EXPECT_EQ(outcome.trials, static_cast<std::int64_t>(machine_.measured.size()));
  EXPECT_DOUBLE_EQ(outcome.baseline_ms, kTasks * kDefaultNs / 1e6);
  ASSERT_EQ(outcome.gains.size(), static_cast<std::size_t>(kTasks));
  for (const TaskGain& gain : outcome.gains) {
    EXPECT_LT(gain.after_ns, gain.before_ns);
    EXPECT_DOUBLE_EQ(gain.paired.speedup, gain.before_ns / gain.after_ns);
  }
  EXPECT_EQ(opat().at("opat_tuning_result"), "tuning successful");
  EXPECT_EQ(opat().at("repo_modified_operators").size(), static_cast<std::size_t>(kTasks));
  expect_counters(kTasks, 0, 0, 0);
  ASSERT_TRUE(outcome.om_written);
  const runtime::Om om = runtime::Om::load(options_.tuned_om_path);
  for (const json& node : om.tuning.at("nodes")) EXPECT_EQ(node.at("source"), "bank");
  EXPECT_EQ(winners().size(), static_cast<std::size_t>(kTasks));
}

TEST_F(Session, TheResultFileIsNotWrittenForEveryTask) {
  std::set<std::string> contents;
  double elapsed_s = 0;
  options_.on_progress = [&](const Progress& progress) {
    if (progress.stage == Stage::kDone) return;
    contents.insert(read_file(options_.result_path, ExitCode::kOutput));
    elapsed_s = progress.elapsed_s;
  };
  tune();
  // At the start, with the tasks' number, and then once a second; each task has its own number of trials.
  EXPECT_LE(static_cast<double>(contents.size()), 3 + elapsed_s);
  EXPECT_EQ(parse_json(*contents.begin()).front().at("basic").at("tuning_name"), "g");
  expect_counters(kTasks, 0, 0, 0);
}

TEST_F(Session, EveryOpOfAChangedTaskIsListedAndNoneOfADemotedOne) {
  graph_ = aoe::tests::import_text(R"(
    g (float[1,16,14,14] x) => (float[1,16,14,14] y) <float[16,16,3,3] w, float[16,16,3,3] v> {
      a = Conv <pads = [1,1,1,1]> (x, w)
      b = Softmax <axis = 1> (a)
      y = Conv <pads = [1,1,1,1]> (b, v)
    })");
  graph::run_passes(graph_, {});
  const auto listed = [&] {
    std::map<std::string, json> ops;
    const json list = opat().at("repo_modified_operators");
    for (const json& op : list) ops[op.at("op_name")] = op.at("tune_performance");
    EXPECT_EQ(ops.size(), list.size()) << "an op is listed twice";
    return ops;
  };
  EXPECT_EQ(tune().tasks, 2) << "two equal convolutions and a softmax";
  EXPECT_EQ(listed().size(), 3U);
  std::vector<json> convolutions;
  for (const auto& [name, gains] : listed())
    if (name.starts_with("Conv")) convolutions.push_back(gains);
  ASSERT_EQ(convolutions.size(), 2U);
  EXPECT_EQ(convolutions[0], convolutions[1]);
  expect_counters(2, 0, 0, 0);  // strategies, not ops

  fs::remove_all(temp_ / "bank");
  machine_.is_slow_in_models = [](const std::string&) { return true; };
  tune();
  EXPECT_TRUE(listed().empty());
}

TEST_F(Session, TheSameModelIsMeasuredOnce) {
  tune();
  const std::string om = read_file(options_.tuned_om_path, ExitCode::kOutput);
  const json measured = opat();
  EXPECT_FALSE(measured.contains("model_measured_utc"));

  fs::remove(options_.tuned_om_path);
  machine_.runs_no_models = true;  // nothing is run, so that it does not matter
  const TuneOutcome again = tune();
  EXPECT_EQ(again.state, TuningState::kSuccessful);
  EXPECT_EQ(again.trials, 0);
  EXPECT_NE(again.model.value().measured_utc, "");
  EXPECT_EQ(read_file(options_.tuned_om_path, ExitCode::kOutput), om);
  for (const char* key : {"model_baseline_performance(ms)", "model_result_performance(ms)",
                          "model_performance_improvement", "model_improvement_interval"})
    EXPECT_EQ(opat().at(key), measured.at(key)) << key;
  EXPECT_EQ(opat().at("model_measured_utc"), again.model->measured_utc);
}

TEST_F(Session, AnotherBankOrPolicyIsMeasuredAnew) {
  tune();
  options_.policy.confirm.min_gain *= 2;
  EXPECT_EQ(tune().model.value().measured_utc, "");
  EXPECT_NE(tune().model.value().measured_utc, "");
  bank::KnowledgeBank bank = open_bank();
  bank.remove({.strategies = [](const bank::TaskKey&, const bank::Strategy&) { return true; },
               .records = {}});
  EXPECT_EQ(tune().model.value().measured_utc, "");
}

TEST_F(Session, WhoeverLooksAtTheMachineIsAskedOnceAndOnlyByARunThatMeasures) {
  int asked = 0;
  options_.before_measuring = [&] { asked += machine_.measured.empty() ? 1 : 100; };
  tune();
  EXPECT_EQ(asked, 1);
  machine_.measured.clear();
  tune();
  EXPECT_EQ(asked, 1);
}

TEST_F(Session, AModelThatIsKeptUntunedIsRememberedAsThat) {
  machine_.tuned_share = 10;
  EXPECT_TRUE(tune().model.value().is_untuned());
  machine_.runs_no_models = true;
  const TuneOutcome again = tune();
  EXPECT_TRUE(again.model.value().is_untuned());
  EXPECT_NE(again.model->measured_utc, "");
  EXPECT_EQ(again.trials, 0);
}

TEST_F(Session, WhatNothingProvesIsMeasuredAgain) {
  machine_.tuned_noise = 3;
  ASSERT_EQ(tune().model.value().paired.verdict, Verdict::kAmbiguous);
  EXPECT_EQ(tune().model.value().measured_utc, "");
}

// ---- REPEAT_TUNE ----

TEST_F(Session, WhatTheBankKnowsIsSkippedAndCountsAsHitAndReserved) {
  tune();
  const auto first = winners();
  machine_.measured.clear();
  const TuneOutcome again = tune();
  EXPECT_TRUE(machine_.measured.empty());
  EXPECT_EQ(again.trials, 0);
  EXPECT_EQ(again.settled, kTasks);
  EXPECT_EQ(again.model.value().paired.verdict, Verdict::kFaster);
  expect_counters(0, 0, kTasks, 0);
  EXPECT_EQ(winners(), first);
}

TEST_F(Session, RepeatedTuningThatFindsNothingBetterReserves) {
  tune();
  const auto first = winners();
  for (const std::string& winner : first) machine_.set_ns[winner] = 400;
  machine_.measured.clear();
  options_.repeat_tune = true;
  tune();
  EXPECT_FALSE(machine_.measured.empty());
  expect_counters(0, 0, kTasks, 0);
  EXPECT_EQ(winners(), first);
}

TEST_F(Session, RepeatedTuningThatFindsBetterUpdates) {
  tune();
  const auto first = winners();
  for (const std::string& winner : first) machine_.set_ns[winner] = 0.95 * kDefaultNs;
  options_.repeat_tune = true;
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  expect_counters(0, kTasks, 0, 0);
  const json operators = opat().at("repo_modified_operators");
  for (const json& op : operators)
    for (const auto& [mode, gain] : op.at("tune_performance").items())
      EXPECT_EQ(gain.at("update_mode"), "update") << mode;
  const auto second = winners();
  EXPECT_EQ(second.size(), first.size());
  for (const std::string& winner : second) EXPECT_FALSE(first.contains(winner)) << winner;
}

// ---- limits ----

TEST_F(Session, TasksBeyondTheLimitOfTheSearchAreNotSearched) {
  options_.policy.search.time_limit_s = 1e-9;
  const TuneOutcome outcome = tune();
  EXPECT_TRUE(machine_.measured.empty());
  EXPECT_EQ(outcome.state, TuningState::kIncomplete);
  EXPECT_EQ(outcome.ended_by, RunEnd::kSearchLimit);
  EXPECT_EQ(opat().at("opat_tuning_result"), "tuning incomplete");
  EXPECT_TRUE(outcome.om_written);
  EXPECT_TRUE(winners().empty());
  expect_counters(0, 0, 0, 0, kTasks);
  // Nothing was learned of them: the next run, with time, searches.
  options_.policy.search.time_limit_s = 0;
  tune();
  expect_counters(kTasks, 0, 0, 0);
}

TEST_F(Session, TheTrialLimitHoldsForTheWholeRun) {
  for (const int limit : {1, 2, 3, 10, 25}) {
    machine_.measured.clear();
    fs::remove_all(temp_ / "bank");
    options_.max_trials = limit;
    const TuneOutcome outcome = tune();
    EXPECT_LE(static_cast<int>(machine_.measured.size()), limit);
    EXPECT_GE(static_cast<int>(machine_.measured.size()), 1);
    EXPECT_EQ(outcome.trials, static_cast<std::int64_t>(machine_.measured.size()));
    EXPECT_EQ(result().at(0).at("basic").at("trials"), outcome.trials);
    const json summary = opat().at("repo_summary");
    const int searched = summary.at("total_num");
    EXPECT_EQ(outcome.not_searched, kTasks - searched);
    EXPECT_EQ(outcome.ended_by, searched < kTasks ? RunEnd::kTrials : RunEnd::kDone);
  }
}

// ---- failures ----

TEST_F(Session, AnOperatorThatCannotBeMeasuredFailsAndTheOthersGoOn) {
  machine_.unmeasurable_type = "SoftmaxV2";
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kFailed);
  EXPECT_EQ(outcome.failed_ops.size(), 1U);
  EXPECT_EQ(opat().at("opat_tuning_result"), "tuning failed");
  EXPECT_EQ(opat().at("tuning_failed_operators").size(), 1U);
  EXPECT_EQ(winners().size(), 2U);
  expect_counters(kTasks - 1, 0, 0, 1);
}

TEST_F(Session, AnUntunedModelThatDoesNotRunEndsTheRun) {
  machine_.runs_no_models = true;
  try {
    tune();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kFailure);
    EXPECT_NE(std::string(e.what()).find("no such machine"), std::string::npos) << e.what();
  }
  EXPECT_EQ(result().at(0).at("basic").at("tuning_name"), "g");
}

// ---- gears ----

TEST_F(Session, GearsShareEqualTasksAndOneOm) {
  write_file_atomically(temp_ / "m.onnx", aoe::tests::model_bytes(R"(
    g (float[N,16,14,14] x, float[8,32] z) => (float[N,8,14,14] y, float[8,32] s)
      <float[8,16,1,1] v> {
      y = Conv (x, v)
      s = Softmax <axis = 1> (z)
    })"));
  const auto request = graph::parse_gears(GearKind::kBatch, "1,4,2", "x:-1,16,14,14");
  graph::GearedGraph model = aoe::tests::import_gears(temp_ / "m.onnx", request);
  graph_ = std::move(model.graph);
  options_.gears = model.gears;

  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.tasks, 4) << "three convolutions, and one softmax";
  // One inference of each gear: the softmax runs in all of them.
  EXPECT_DOUBLE_EQ(outcome.baseline_ms, 6 * kDefaultNs / 1e6);
  EXPECT_EQ(result().at(0).at("basic").at("gears"), (json{"1", "4", "2"}));
  ASSERT_TRUE(outcome.om_written);
  const runtime::GearedOm om = runtime::GearedOm::load(options_.tuned_om_path);
  EXPECT_EQ(om.gears, options_.gears);
  for (const runtime::Om& gear : om.oms) {
    ASSERT_EQ(gear.tuning.at("nodes").size(), 2u);
    for (const json& node : gear.tuning.at("nodes")) EXPECT_EQ(node.at("source"), "bank");
  }
}

}  // namespace
}  // namespace aoe::tuner
