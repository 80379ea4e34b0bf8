// The bank beside a std::map, across processes, kills and damage.
#include "bank/knowledge_bank.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "tests/bank/bank_fixture.h"
#include "tests/temp_dir.h"

namespace aoe::bank {
namespace {
namespace fs = std::filesystem;
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kBank);
    return e.what();
  }
  return "no error";
}

class Bank : public ::testing::Test {
 protected:
  KnowledgeBank open(bool read_only = false, int wait_ms = 30000) {
    return KnowledgeBank(directory_, {kTestSoc, read_only, std::chrono::milliseconds(wait_ms)});
  }
  tests::TempDir temp_;
  fs::path directory_ = temp_ / "op/soc";
};

TEST_F(Bank, MissingDirectoryIsAnEmptyBankAndStaysAbsent) {
  EXPECT_FALSE(open().find(test_key(1)));
  EXPECT_TRUE(open().entries().empty());
  EXPECT_FALSE(fs::exists(directory_));
}

TEST_F(Bank, KeepsWhatTheMachineCanDo) {
  KnowledgeBank bank = open();
  EXPECT_FALSE(bank.roofs());
  bank.commit({.roofs = Roofs{123.5, 20.25, "2026-11-23T07:00:00Z"}});
  bank.commit({.strategies = {{test_key(1), test_strategy("NC1HWC0", 10, 7)}}});
  const KnowledgeBank again = open();
  const KnowledgeBank empty(temp_ / "op/other", {kTestSoc, true});
  for (const auto& found : {bank.roofs(), again.roofs(), LayeredSource({&empty, &again}).roofs()}) {
    ASSERT_TRUE(found);
    EXPECT_EQ(found->peak_gflops, 123.5);
    EXPECT_EQ(found->memory_gb_s, 20.25);
    EXPECT_EQ(found->when_utc, "2026-11-23T07:00:00Z");
  }
}

TEST_F(Bank, FindsWhatWasCommittedAlsoAfterReopening) {
  KnowledgeBank bank = open();
  EXPECT_EQ(bank.commit({{{test_key(1), test_strategy("NC1HWC0", 10, 7)}}, {}}),
            std::vector{CommitOutcome::kAdded});
  for (const auto& found : {bank.find(test_key(1)), open().find(test_key(1))}) {
    ASSERT_TRUE(found);
    ASSERT_EQ(found->strategies.size(), 1U);
    EXPECT_EQ(to_json(found->strategies[0]), to_json(test_strategy("NC1HWC0", 10, 7)));
  }
  EXPECT_FALSE(bank.find(test_key(2)));
}

TEST_F(Bank, KeepsOneStrategyPerFormatFastestFirst) {
  KnowledgeBank bank = open();
  bank.commit({{{test_key(1), test_strategy("NCHW", 30)},
                {test_key(1), test_strategy("NHWC", 10)},
                {test_key(1), test_strategy("ND", 20)}},
               {}});
  const auto found = bank.find(test_key(1));
  ASSERT_EQ(found->strategies.size(), 3U);
  EXPECT_EQ(found->strategies[0].format, "NHWC");
  EXPECT_EQ(found->strategies[1].format, "ND");
  EXPECT_EQ(found->strategies[2].format, "NCHW");
}

TEST_F(Bank, SlowerStrategyReplacesOnlyWhenToldTo) {
  KnowledgeBank bank = open();
  bank.commit({{{test_key(1), test_strategy("ND", 10)}}, {}});
  EXPECT_EQ(bank.commit({{{test_key(1), test_strategy("ND", 12)}}, {}}),
            std::vector{CommitOutcome::kKept});
  EXPECT_EQ(bank.commit({{{test_key(1), test_strategy("ND", 8)}}, {}}),
            std::vector{CommitOutcome::kUpdated});
  EXPECT_EQ(bank.commit({{{test_key(1), test_strategy("ND", 9), true}}, {}}),
            std::vector{CommitOutcome::kUpdated});
  EXPECT_DOUBLE_EQ(bank.find(test_key(1))->strategies[0].measured.time_ns, 9);
}

TEST_F(Bank, StrategyOfOlderImplVersionGivesWay) {
  KnowledgeBank bank = open();
  bank.commit({{{test_key(1), test_strategy("ND", 10)}}, {}});
  Strategy newer = test_strategy("ND", 50);
  newer.impl_version = 2;
  EXPECT_EQ(bank.commit({{{test_key(1), newer}}, {}}), std::vector{CommitOutcome::kUpdated});
}

TEST_F(Bank, WithdrawnTaskIsAMissKeepsItsRecordsAndCanWinAgain) {
  KnowledgeBank bank = open();
  bank.commit({{{test_key(1), test_strategy("ND", 10)}, {test_key(2), test_strategy("ND", 10)}},
               {{test_key(1), {test_strategy("ND", 10)}}}});
  bank.commit({.strategies = {}, .records = {}, .withdrawn = {test_key(1)}});
  EXPECT_FALSE(bank.find(test_key(1)));
  EXPECT_EQ(bank.entries().size(), 1U);
  EXPECT_EQ(bank.records(test_key(1)).size(), 1U);
  // In one commit the withdrawal comes first: the way back to an earlier strategy, though slower.
  bank.commit({.strategies = {{test_key(2), test_strategy("ND", 12)}},
               .records = {},
               .withdrawn = {test_key(2)}});
  EXPECT_EQ(bank.find(test_key(2))->strategies.front().measured.time_ns, 12);
  EXPECT_EQ(bank.commit({{{test_key(1), test_strategy("ND", 11)}}, {}}),
            std::vector{CommitOutcome::kAdded});
  EXPECT_TRUE(bank.find(test_key(1)));
}

TEST_F(Bank, RecordsKeepTheirOrderPerTask) {
  KnowledgeBank bank = open();
  bank.commit({{},
               {{test_key(1), {test_strategy("ND", 1), "ok", "", 7}},
                {test_key(2), {test_strategy("ND", 2), "crashed", "SIGSEGV", 7}}}});
  bank.commit({{}, {{test_key(1), {test_strategy("ND", 3), "ok", "", 8}}}});
  const auto records = bank.records(test_key(1));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_DOUBLE_EQ(records[0].strategy.measured.time_ns, 1);
  EXPECT_DOUBLE_EQ(records[1].strategy.measured.time_ns, 3);
  EXPECT_EQ(bank.records(test_key(2)).at(0).detail, "SIGSEGV");
  EXPECT_EQ(bank.record_count(), 3U);
}

TEST_F(Bank, RecentRecordsAreTheLastOfAllTasksWithTheirFeatures) {
  KnowledgeBank bank = open();
  EXPECT_TRUE(bank.recent_records(10).empty());
  for (int i = 0; i < 6; ++i) {
    Record record{.strategy = test_strategy("ND", i + 1.0)};
    if (i % 2 == 0) record.features = {{"tile", 1.0 * i}, {"bytes", 0.5}};
    bank.commit({.strategies = {}, .records = {{test_key(i % 3), record}}});
  }
  std::map<double, Record> by_time;
  for (const Record& record : bank.recent_records(4))
    by_time[record.strategy.measured.time_ns] = record;
  ASSERT_EQ(by_time.size(), 4U);
  EXPECT_EQ(by_time.begin()->first, 3);
  EXPECT_TRUE(by_time[4].features.empty());
  const std::map<std::string, double> features(by_time[5].features.begin(),
                                               by_time[5].features.end());
  EXPECT_EQ(features, (std::map<std::string, double>{{"bytes", 0.5}, {"tile", 4}}));
  EXPECT_EQ(bank.recent_records(100).size(), 6U);
}

TEST_F(Bank, AgreesWithAMapThroughRandomCommitsAndReopenings) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::map<int, std::map<std::string, double>> model;
  auto bank = std::make_unique<KnowledgeBank>(directory_, BankOptions{kTestSoc});
  for (int round = 0; round < 25; ++round) {
    Commit commit;
    for (auto n = random() % 6; n > 0; --n) {
      const int task = static_cast<int>(random() % 10);
      const std::string format = random() % 2 ? "ND" : "NHWC";
      const auto time = static_cast<double>(1 + random() % 100);
      const bool replace = random() % 3 == 0;
      commit.strategies.push_back({test_key(task), test_strategy(format, time), replace});
      auto [at, is_new] = model[task].try_emplace(format, time);
      if (!is_new && (replace || time < at->second)) at->second = time;
    }
    bank->commit(commit);
    if (random() % 4 == 0)
      bank = std::make_unique<KnowledgeBank>(directory_, BankOptions{kTestSoc});
    for (const auto& [task, formats] : model) {
      const auto found = bank->find(test_key(task));
      ASSERT_TRUE(found);
      ASSERT_EQ(found->strategies.size(), formats.size());
      for (const Strategy& strategy : found->strategies)
        EXPECT_DOUBLE_EQ(strategy.measured.time_ns, formats.at(strategy.format));
    }
  }
}

/// A running bank_writer. Not a fork: a forked child has no RocksDB threads.
class Writer {
 public:
  Writer(const fs::path& directory, int first, int count) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const std::string numbers[] = {std::to_string(first), std::to_string(count)};
    const std::string program = BANK_WRITER;
    const char* arguments[] = {program.c_str(), directory.c_str(), numbers[0].c_str(),
                               numbers[1].c_str(), nullptr};
    if (::posix_spawn(&process_, program.c_str(), &actions, nullptr, const_cast<char**>(arguments),
                      environ) != 0)
      throw std::runtime_error("posix_spawn");
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    progress_ = ends[0];
  }
  ~Writer() { ::close(progress_); }
  /// The next task whose commit has returned; nullopt when the process is gone.
  std::optional<int> next() {
    int task = 0;
    if (::read(progress_, &task, sizeof task) != sizeof task) return std::nullopt;
    return task;
  }
  void kill() { ::kill(process_, SIGKILL); }
  int wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    return status;
  }

 private:
  pid_t process_ = -1;
  int progress_ = -1;
};

TEST_F(Bank, ManyProcessesCommitAndReadAndLoseNothing) {
  constexpr int kProcesses = 4;
  constexpr int kCommitsEach = 8;
  std::vector<std::unique_ptr<Writer>> writers;
  for (int p = 0; p < kProcesses; ++p)
    writers.push_back(std::make_unique<Writer>(directory_, p * 100, kCommitsEach));
  for (const auto& writer : writers) EXPECT_EQ(writer->wait(), 0);
  KnowledgeBank bank = open();
  EXPECT_EQ(bank.entries().size(), static_cast<std::size_t>(kProcesses * kCommitsEach));
  EXPECT_EQ(bank.record_count(), static_cast<std::size_t>(kProcesses * kCommitsEach));
}

TEST_F(Bank, SurvivesAWriterKilledAtAnyMoment) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  open().commit({{{test_key(0), test_strategy("ND", 1)}}, {}});
  for (int round = 1; round <= 10; ++round) {
    Writer writer(directory_, round * 1000, 1000);
    std::optional<int> last = writer.next();
    ASSERT_TRUE(last) << "the writer ended before its first commit";
    ::usleep(static_cast<useconds_t>(random() %
                                     40000));  // where the kill falls is the point of the test
    writer.kill();
    while (const auto more = writer.next()) last = more;
    writer.wait();
    const KnowledgeBank bank = open();
    EXPECT_TRUE(bank.find(test_key(0)));
    for (int task = round * 1000; task <= *last; ++task)
      EXPECT_TRUE(bank.find(test_key(task))) << task << " of " << *last;
  }
  EXPECT_NO_THROW(open().commit({{{test_key(9), test_strategy("ND", 1)}}, {}}));
}

TEST_F(Bank, OpenReaderKeepsItsSnapshotWhileOthersCommit) {
  open().commit({{{test_key(1), test_strategy("ND", 1)}}, {}});
  KnowledgeBank reader = open();
  for (int i = 2; i < 10; ++i) open().commit({{{test_key(i), test_strategy("ND", 1)}}, {}});
  EXPECT_TRUE(reader.find(test_key(1)));
  EXPECT_FALSE(reader.find(test_key(9)));
  reader.refresh();
  EXPECT_TRUE(reader.find(test_key(9)));
}

TEST_F(Bank, WaitsForTheLockWithABoundAndNamesTheHolder) {
  open().commit({});
  const int fd = ::open((directory_ / "lock").c_str(), O_RDWR);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  KnowledgeBank bank = open(false, 50);
  const std::string message = message_of([&] {
    bank.commit({{{test_key(1), test_strategy("ND", 1)}}, {}});
  });
  EXPECT_NE(message.find("locked by process"), std::string::npos) << message;
  ::close(fd);
  EXPECT_NO_THROW(bank.commit({{{test_key(1), test_strategy("ND", 1)}}, {}}));
}

TEST_F(Bank, RefusesWhatIsNoBankOrNotForIt) {
  fs::create_directories(directory_);
  std::ofstream(directory_ / "holiday.jpg") << "not a bank";
  EXPECT_NE(message_of([&] { open(); }).find("not a bank"), std::string::npos);
  fs::remove_all(directory_);
  std::ofstream(temp_ / "file") << "x";
  EXPECT_NE(message_of([&] { KnowledgeBank(temp_ / "file", {kTestSoc}); }).find("not a bank"),
            std::string::npos);

  open().commit({{{test_key(1), test_strategy("ND", 1)}}, {}});
  EXPECT_NE(message_of([&] { KnowledgeBank(directory_, {"other-soc"}); }).find("soc_version"),
            std::string::npos);
  EXPECT_NE(message_of([&] { open(true).commit({}); }).find("read-only"), std::string::npos);
  write_file_atomically(directory_ / "BANK", R"({"kind":"aoe knowledge bank","layout":99})");
  EXPECT_NE(message_of([&] { open(); }).find("newer version"), std::string::npos);
}

TEST_F(Bank, DamagedSnapshotIsAnErrorNotAnEmptyBank) {
  open().commit({{{test_key(1), test_strategy("ND", 1)}}, {}});
  for (const fs::directory_entry& file : fs::directory_iterator(directory_ / "snapshot-1"))
    if (file.path().filename().string().starts_with("MANIFEST"))
      fs::resize_file(file.path(), fs::file_size(file.path()) / 2);
  std::string message;
  try {
    open();
    message = "opened";
  } catch (const Error& e) {
    message = e.what();
  }
  EXPECT_NE(message.find("bank"), std::string::npos) << message;
}

TEST_F(Bank, CustomWinsOverBuiltInAndBothAreAsked) {
  KnowledgeBank custom = open();
  KnowledgeBank built_in(temp_ / "built_in", {kTestSoc});
  built_in.commit(
      {{{test_key(1), test_strategy("ND", 1)}, {test_key(2), test_strategy("ND", 2)}}, {}});
  custom.commit({{{test_key(1), test_strategy("ND", 10)}}, {}});
  const LayeredSource both({&custom, &built_in});
  EXPECT_DOUBLE_EQ(both.find(test_key(1))->strategies[0].measured.time_ns, 10);
  EXPECT_DOUBLE_EQ(both.find(test_key(2))->strategies[0].measured.time_ns, 2);
  EXPECT_FALSE(both.find(test_key(3)));
}

}  // namespace
}  // namespace aoe::bank
