// Runs that are stopped, and how the next ones go on from there.
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/tuner/session/operator_session.h"
#include "tuner/session/job_journal.h"

namespace aoe::tuner {
namespace {
using nlohmann::json;
using tests::kDefaultNs;
using tests::Session;
namespace fs = std::filesystem;

TEST_F(Session, AStoppedRunIsIncompleteAndKeepsWhatItWon) {
  options_.on_progress = [&](const Progress& progress) {
    if (progress.tasks_done == 1) stop_.request_stop();
  };
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kIncomplete);
  EXPECT_EQ(opat().at("opat_tuning_result"), "tuning incomplete");
  EXPECT_FALSE(outcome.om_written);
  EXPECT_FALSE(fs::exists(options_.tuned_om_path));
  EXPECT_EQ(unconfirmed().size(), 1U);
  expect_counters(1, 0, 0, 0);
}

TEST_F(Session, ARunThatIsStoppedBeforeItKnowsItsTasksSaysSo) {
  stop_.request_stop();
  EXPECT_EQ(tune().state, TuningState::kIncomplete);
  EXPECT_EQ(opat().at("opat_tuning_result"), "tuning incomplete");
  EXPECT_TRUE(winners().empty());
}

TEST_F(Session, WhatAStoppedRunWonIsNotServedBeforeTheNextRunConfirmsIt) {
  tune_until_the_first_task_is_done();
  const auto waiting = unconfirmed();
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_TRUE(winners().empty());
  const bank::KnowledgeBank bank = open_bank();
  for (const bank::BankEntry& entry : bank.entries()) EXPECT_FALSE(bank.find(entry.key));

  machine_.measured.clear();
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.settled, 1);
  for (const std::string& each : machine_.measured)
    EXPECT_NE(each.substr(0, each.find(' ')),
              waiting.begin()->substr(0, waiting.begin()->find(' ')))
        << "it was searched again";
  EXPECT_TRUE(unconfirmed().empty());
  EXPECT_TRUE(winners().contains(*waiting.begin()));
  EXPECT_EQ(winners().size(), static_cast<std::size_t>(kTasks));
  expect_counters(kTasks - 1, 0, 1, 0);
}

TEST_F(Session, WhatAStoppedRunWonIsWithdrawnByTheNextRunWhenItDoesNotHold) {
  tune_until_the_first_task_is_done();
  ASSERT_EQ(unconfirmed().size(), 1U);
  machine_.is_slow_in_models = [](const std::string&) { return true; };
  tune();
  EXPECT_TRUE(unconfirmed().empty());
  EXPECT_TRUE(winners().empty());
  expect_counters(0, 0, 0, kTasks);
  // That nothing beats the default is known of each of them.
  const bank::KnowledgeBank bank = open_bank();
  EXPECT_EQ(bank.entries().size(), static_cast<std::size_t>(kTasks));
  for (const bank::BankEntry& entry : bank.entries()) EXPECT_TRUE(bank.find(entry.key));
}

TEST_F(Session, AStoppedUpdateLeavesTheConfirmedStrategyInPlace) {
  tune();
  const auto first = winners();
  for (const std::string& winner : first) machine_.set_ns[winner] = 0.95 * kDefaultNs;
  options_.repeat_tune = true;
  tune_until_the_first_task_is_done();
  EXPECT_EQ(unconfirmed().size(), 1U);
  EXPECT_EQ(winners(), first);
  options_.repeat_tune = false;
  tune();
  EXPECT_TRUE(unconfirmed().empty());
  EXPECT_NE(winners(), first);
}

TEST_F(Session, BeforeAnythingIsMeasuredTheResultSaysIncomplete) {
  stop_.request_stop();
  EXPECT_EQ(tune().state, TuningState::kIncomplete);
  EXPECT_EQ(result().at(0).at("basic").at("tuning_name"), "g");
}

TEST_F(Session, StoppedWhileTheUntunedModelIsCompiledItDoesNotWaitForThat) {
  options_.on_progress = [&](const Progress& progress) {
    if (progress.stage == Stage::kBaseline) stop_.request_stop();
  };
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.ended_by, RunEnd::kStopped);
  EXPECT_FALSE(fs::exists(options_.work_directory / "untuned.om"));
}

TEST_F(Session, AReloadedRunRepeatsNoMeasurement) {
  machine_.stop = &stop_;
  machine_.stop_after = 20;
  EXPECT_EQ(tune().state, TuningState::kIncomplete);
  const std::set<std::string> before(machine_.measured.begin(), machine_.measured.end());
  ASSERT_EQ(before.size(), 20U);
  const auto repeated_with = [&](bool reload) {
    machine_.stop = nullptr;
    machine_.measured.clear();
    stop_ = std::stop_source();
    options_.reload = reload;
    EXPECT_EQ(tune().state, TuningState::kSuccessful);
    return std::ranges::count_if(machine_.measured,
                                 [&](const std::string& m) { return before.contains(m); });
  };
  fs::copy(temp_ / "bank", temp_ / "bank_at_stop", fs::copy_options::recursive);
  EXPECT_EQ(repeated_with(true), 0);
  fs::remove_all(temp_ / "bank");
  fs::rename(temp_ / "bank_at_stop", temp_ / "bank");
  EXPECT_GT(repeated_with(false), 0);
}

/// A job in two pieces: interrupted by stop_ or a measurement, then gone on with.
class JobSession : public Session {
 protected:
  TuneOutcome begin() {
    machine_.measured.clear();
    const auto journal = JobJournal::create(temp_.path(), {.tuning_name = "g", .job_type = 2});
    return work_on(*journal);
  }

  TuneOutcome go_on() {
    stop_ = std::stop_source();
    machine_.stop = nullptr;
    machine_.measured.clear();
    options_.on_progress = {};
    options_.reload = true;
    const auto journal = JobJournal::resume(temp_.path());
    return work_on(*journal);
  }

  void stop_after_tasks(int count) {
    options_.on_progress = [this, count](const Progress& progress) {
      if (progress.tasks_done == count) stop_.request_stop();
    };
  }

 private:
  TuneOutcome work_on(JobJournal& journal) {
    options_.journal = &journal;
    TuneOutcome outcome = tune();
    options_.journal = nullptr;
    return outcome;
  }
};

TEST_F(JobSession, EndsAsIfItHadNotBeenInterrupted) {
  for (const int tasks_before : {1, 2}) {
    fs::remove_all(temp_ / "bank");
    fs::remove(temp_ / kJournalName);
    stop_ = std::stop_source();
    options_.reload = false;
    stop_after_tasks(tasks_before);
    const TuneOutcome first = begin();
    EXPECT_EQ(first.state, TuningState::kIncomplete);
    const auto won_before = unconfirmed();
    ASSERT_EQ(won_before.size(), static_cast<std::size_t>(tasks_before));
    const std::set<std::string> before(machine_.measured.begin(), machine_.measured.end());

    const TuneOutcome outcome = go_on();
    EXPECT_EQ(outcome.state, TuningState::kSuccessful);
    EXPECT_TRUE(std::ranges::none_of(
        machine_.measured, [&](const std::string& measured) { return before.contains(measured); }));
    expect_counters(kTasks, 0, 0, 0);
    EXPECT_EQ(opat().at("repo_modified_operators").size(), static_cast<std::size_t>(kTasks));
    EXPECT_EQ(outcome.gains.size(), static_cast<std::size_t>(kTasks));
    EXPECT_EQ(outcome.trials, first.trials + std::ssize(machine_.measured));
    EXPECT_EQ(result().at(0).at("basic").at("trials"), outcome.trials);
    EXPECT_TRUE(std::ranges::includes(winners(), won_before));
    EXPECT_THROW((void)JobJournal::resume(temp_.path()), Error) << "it has ended";
  }
}

TEST_F(JobSession, WhatTheBankWasNotToldYetIsNotMeasuredAgain) {
  machine_.stop = &stop_;
  machine_.stop_after = 20;
  begin();
  const std::set<std::string> before(machine_.measured.begin(), machine_.measured.end());
  fs::remove_all(temp_ / "bank");  // gets records every few seconds; kill -9 comes in between
  go_on();
  EXPECT_TRUE(std::ranges::none_of(
      machine_.measured, [&](const std::string& measured) { return before.contains(measured); }));
  expect_counters(kTasks, 0, 0, 0);
  EXPECT_EQ(winners().size(), static_cast<std::size_t>(kTasks)) << "decided tasks are told again";
}

TEST_F(JobSession, WhatWasWonBeforeIsTakenBackWhenTheModelDoesNotConfirmIt) {
  stop_after_tasks(2);
  begin();
  ASSERT_EQ(unconfirmed().size(), 2U);
  machine_.is_slow_in_models = [](const std::string&) { return true; };
  EXPECT_EQ(go_on().model.value().paired.verdict, Verdict::kSame);
  EXPECT_TRUE(winners().empty());
  expect_counters(0, 0, 0, kTasks);
}

TEST_F(JobSession, WhatSomebodyElseHasChangedMeanwhileStays) {
  stop_after_tasks(1);
  begin();
  bank::BankEntry entry = open_bank().entries().at(0);
  bank::Strategy& theirs = entry.unconfirmed.strategies.front();
  theirs.schedule.begin()->second *= 2;
  theirs.measured.verdict = "faster";
  open_bank().commit({.strategies = {{entry.key, theirs, true}}, .withdrawn = {entry.key}});
  go_on();
  const auto now = open_bank().find(entry.key);
  ASSERT_TRUE(now);
  EXPECT_EQ(now->strategies.front().schedule, theirs.schedule);
}

}  // namespace
}  // namespace aoe::tuner
