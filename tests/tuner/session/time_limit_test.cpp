// Runs whose whole time is limited, by a clock that only the machine's work moves.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tuner/session/operator_session.h"
#include "tuner/session/job_journal.h"

namespace aoe::tuner {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using tests::Session;

class TimeLimit : public Session {
 protected:
  TimeLimit() {
    options_.now = [this] { return now_; };
    options_.policy.search.time_limit_s = 0;
    machine_.on_spent = [this](double seconds) { now_ += tuner::seconds(seconds); };
  }

  TuneOutcome tune_within(double limit_s) {
    options_.deadline = Deadline::in(limit_s, options_.now);
    const TimePoint begin = now_;
    const TuneOutcome outcome = tune();
    EXPECT_LE(seconds_between(begin, now_), limit_s);
    EXPECT_NEAR(outcome.used.elapsed_s, seconds_between(begin, now_), 1e-6);
    return outcome;
  }

  TimePoint now_ = TimePoint() + std::chrono::hours(1);
};

TEST_F(TimeLimit, BoundsEverythingWhateverItIs) {
  for (const double limit_s : {0.5, 1.5, 4.0, 8.0, 15.0, 30.0, 60.0, 200.0}) {
    fs::remove_all(temp_ / "bank");
    fs::remove(options_.tuned_om_path);
    const TuneOutcome outcome = tune_within(limit_s);
    EXPECT_TRUE(outcome.om_written) << limit_s;
    EXPECT_NO_THROW(runtime::Om::load(options_.tuned_om_path)) << limit_s;
    const int decided = static_cast<int>(winners().size() + unconfirmed().size());
    if (outcome.ended_by == RunEnd::kDone) {
      EXPECT_EQ(outcome.state, TuningState::kSuccessful);
      EXPECT_EQ(decided, kTasks);
    } else {
      EXPECT_EQ(outcome.ended_by, RunEnd::kTimeLimit) << limit_s;
      EXPECT_EQ(outcome.state, TuningState::kIncomplete);
    }
  }
}

TEST_F(TimeLimit, WithEnoughTimeChangesNothing) {
  const TuneOutcome outcome = tune_within(10000);
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_EQ(outcome.ended_by, RunEnd::kDone);
  expect_counters(kTasks, 0, 0, 0);
}

TEST_F(TimeLimit, AndWhatHasElapsedCountFromTheSameMoment) {
  constexpr double kLimitSeconds = 60, kReadingSeconds = 7;
  options_.begin = now_;
  options_.deadline = Deadline::in(kLimitSeconds, options_.now);
  now_ += seconds(kReadingSeconds);
  int reports = 0;
  options_.on_progress = [&](const Progress& progress) {
    EXPECT_NEAR(progress.elapsed_s + progress.limit_left_s, kLimitSeconds, 1e-6);
    ++reports;
  };
  const TuneOutcome outcome = tune();
  EXPECT_GT(reports, 0);
  EXPECT_NEAR(outcome.used.elapsed_s, seconds_between(*options_.begin, now_), 1e-6);
}

TEST_F(TimeLimit, LeavesTheConfirmationItsTime) {
  machine_.candidate_s = 0.25;
  machine_.race_s = 0.5;
  const TuneOutcome outcome = tune_within(12);
  EXPECT_EQ(outcome.ended_by, RunEnd::kTimeLimit);
  ASSERT_TRUE(outcome.model) << "the model was not measured";
  EXPECT_GT(winners().size(), 0U);
  EXPECT_TRUE(unconfirmed().empty());
  EXPECT_EQ(outcome.not_searched, kTasks - static_cast<int>(winners().size()));
  expect_counters(static_cast<int>(winners().size()), 0, 0, 0, outcome.not_searched);
}

TEST_F(TimeLimit, AModelThatTakesTooLongToMeasureIsWrittenUntuned) {
  machine_.model_s = 100;
  const TuneOutcome outcome = tune_within(20);
  EXPECT_EQ(outcome.ended_by, RunEnd::kTimeLimit);
  EXPECT_FALSE(outcome.model);
  EXPECT_TRUE(outcome.om_written);
  EXPECT_TRUE(machine_.measured.empty());
  EXPECT_EQ(result().at(0).at("basic").at("ended_by"), "time_limit");
}

/// Every look at the clock takes a second once the confirmation has begun, and compiling looks at it.
TEST_F(TimeLimit, CutsOffTheCompilationOfTheTunedModel) {
  double look_s = 0;
  options_.now = [&] { return now_ += seconds(look_s); };
  options_.on_progress = [&](const Progress& progress) {
    if (progress.stage == Stage::kConfirm) look_s = 1;
  };
  options_.deadline = Deadline::in(60, options_.now);
  const TuneOutcome outcome = tune();
  EXPECT_FALSE(outcome.model);
  EXPECT_TRUE(outcome.om_written);
  EXPECT_NO_THROW(runtime::Om::load(options_.tuned_om_path));
  EXPECT_EQ(outcome.ended_by, RunEnd::kTimeLimit);
  EXPECT_GT(unconfirmed().size(), 0U) << "what was won waits";
  EXPECT_FALSE(fs::exists(options_.work_directory / "tuned_0.om"));
}

TEST_F(TimeLimit, IsToldInEveryReportAndOnlyCountsDown) {
  double last_s = 30;
  int most_not_searched = 0;
  options_.on_progress = [&](const Progress& progress) {
    EXPECT_LE(progress.limit_left_s, last_s);
    EXPECT_GE(progress.limit_left_s, 0);
    last_s = progress.limit_left_s;
    most_not_searched = std::max(most_not_searched, progress.not_searched);
  };
  const TuneOutcome outcome = tune_within(30);
  EXPECT_EQ(most_not_searched, outcome.not_searched);
}

/// Of each task that is reported something was measured: those whose turn did not come are one number.
TEST_F(TimeLimit, WhatWasNotSearchedIsNotReportedOneByOne) {
  std::set<std::string> ops;
  options_.on_progress = [&](const Progress& progress) {
    if (progress.stage == Stage::kSearch && !progress.op_name.empty()) ops.insert(progress.op_name);
  };
  const TuneOutcome outcome = tune_within(20);
  ASSERT_GT(outcome.not_searched, 1);
  EXPECT_LE(static_cast<int>(ops.size()), kTasks - outcome.not_searched + 1) << "one was cut off";
}

/// What had trials was searched, though nothing came of it.
TEST_F(TimeLimit, ATaskInWhoseMidstTheSearchEndsIsUndecided) {
  const TuneOutcome outcome = tune_within(20);
  int open = 0, undecided = 0;
  for (const TaskFate& task : outcome.fates) {
    if (task.fate != "not searched" && task.fate != "undecided") continue;
    ++open;
    undecided += task.fate == "undecided";
    EXPECT_EQ(task.fate == "undecided", task.trials > 0) << task.op_name;
  }
  EXPECT_EQ(open, outcome.not_searched);
  EXPECT_EQ(undecided, 1);
}

TEST_F(TimeLimit, TheNextRunOfTheJobGoesOn) {
  TuneOutcome first;
  {
    const auto journal = JobJournal::create(temp_.path(), {.tuning_name = "g", .job_type = 2});
    options_.journal = journal.get();
    first = tune_within(25);
  }
  ASSERT_GT(first.not_searched, 0);
  const auto journal = JobJournal::resume(temp_.path());
  options_.reload = true;
  options_.journal = journal.get();
  options_.deadline = {};
  const TuneOutcome second = tune();
  EXPECT_EQ(second.state, TuningState::kSuccessful);
  EXPECT_EQ(second.not_searched, 0);
  EXPECT_EQ(winners().size(), static_cast<std::size_t>(kTasks));
}

}  // namespace
}  // namespace aoe::tuner
