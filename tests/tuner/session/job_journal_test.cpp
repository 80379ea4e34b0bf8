// What a journal keeps, what it refuses, and that a damaged one is never believed.
#include "tuner/session/job_journal.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "tests/temp_dir.h"

namespace aoe::tuner {
namespace {
namespace fs = std::filesystem;

class Journal : public ::testing::Test {
 protected:
  std::unique_ptr<JobJournal> create() { return JobJournal::create(temp_.path(), header_); }
  std::unique_ptr<JobJournal> resume() { return JobJournal::resume(temp_.path()); }

  void expect_refused(const std::string& text) {
    try {
      (void)resume();
      ADD_FAILURE() << "not refused: " << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kUsage);
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(temp_.path().string()), std::string::npos) << e.what();
    }
  }

  std::string text() const { return read_file(file_, ExitCode::kOutput); }
  void write(const std::string& text) { write_file_atomically(file_, text); }

  static bank::Strategy strategy(double time_ns) {
    bank::Strategy strategy{.format = "NHWC", .impl = "direct", .impl_version = 3};
    strategy.schedule = {{"tile", 8}};
    strategy.measured = {.time_ns = time_ns, .verdict = "faster", .policy = "p", .threads = 2};
    return strategy;
  }

  const aoe::tests::TempDir temp_;
  const fs::path file_ = temp_ / kJournalName;
  const bank::TaskKey key_{.description = R"({"op":"Conv2D"})", .soc_version = "s"};
  const JobHeader header_{.tuning_name = "m",
                          .job_type = 2,
                          .model = "digest",
                          .soc_version = "s",
                          .timestamp = "20260101000000000",
                          .result = "r.json"};
};

TEST_F(Journal, KeepsWhatItWasTold) {
  {
    const auto journal = create();
    journal->set_spent(1.5, 0);
    journal->note_plan({{key_.description, 16}});
    journal->set_spent(2.5, 2);
    journal->note_records(key_, {{.strategy = strategy(100)},
                                 {.strategy = strategy(50), .status = "crashed", .detail = "why"}});
    journal->set_spent(4, 3);
    Conclusion conclusion{.decision = Decision::kUpdate, .strategies = {strategy(90)}};
    conclusion.gains = {{"Format", 0.12, 0.09, true}};
    journal->note_conclusion(key_, conclusion, bank::StrategySet{{strategy(110)}});
  }
  const auto journal = resume();
  EXPECT_EQ(journal->header().tuning_name, "m");
  EXPECT_EQ(journal->header().result, "r.json");
  const JobPast& past = journal->past();
  EXPECT_EQ(past.trials, 3);
  EXPECT_DOUBLE_EQ(past.seconds, 4);
  EXPECT_DOUBLE_EQ(past.search_seconds(), 2.5);
  EXPECT_EQ(past.plan.at(key_.description), 16);
  const auto& records = past.records.at(key_.description);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].strategy.schedule, strategy(100).schedule);
  EXPECT_EQ(records[1].status, "crashed");
  const DecidedTask& task = past.decided.at(key_.description);
  EXPECT_EQ(task.conclusion.decision, Decision::kUpdate);
  EXPECT_DOUBLE_EQ(task.conclusion.strategies.at(0).measured.time_ns, 90);
  EXPECT_EQ(task.conclusion.gains.at(0).mode, "Format");
  EXPECT_DOUBLE_EQ(task.before->strategies.at(0).measured.time_ns, 110);
}

TEST_F(Journal, CutOffAnywhereItIsRefusedOrHasFewerLines) {
  {
    const auto journal = create();
    journal->note_plan({{key_.description, 16}});
    journal->note_records(key_, {{.strategy = strategy(100)}});
  }
  const std::string whole = text();
  const std::size_t first_line = whole.find('\n') + 1;
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    write(whole.substr(0, size));
    if (size < first_line) {
      expect_refused("damaged");
      continue;
    }
    resume()->note_plan({{"another", 1}});  // runs into nothing
    EXPECT_EQ(resume()->past().plan.at("another"), 1) << size;
  }
}

TEST_F(Journal, DamageIsAnErrorThatNamesTheJob) {
  create();
  const std::string job = text();
  const std::string bad[] = {"",
                             "\n",
                             "no json\n",
                             "[]\n",
                             "{\"job\": 3}\n",
                             "{\"job\": {\"version\": 99}, \"s\": 0, \"trials\": 0}\n",
                             job + "{\"plan\": 3, \"s\": 0, \"trials\": 0}\n",
                             job + "{\"plan\": {}}\n",
                             job +
                                 "{\"task\": \"t\", \"verdict\": {\"decision\": 77}, \"s\": 0, "
                                 "\"trials\": 0}\n"};
  for (const std::string& content : bad) {
    write(content);
    expect_refused("damaged");
  }
}

TEST_F(Journal, RefusesWhatIsNotToBeGoneOnWith) {
  EXPECT_FALSE(JobJournal::peek(temp_.path()));
  expect_refused("No such file");
  {
    const auto journal = create();
    EXPECT_EQ(JobJournal::peek(temp_.path())->model, "digest");
    expect_refused("another process");
    journal->note_end("tuning successful");
  }
  expect_refused("has ended (tuning successful)");
  EXPECT_THROW(create(), Error) << "a second job in one directory";
}

}  // namespace
}  // namespace aoe::tuner
