// The power goes at any moment: every acknowledged commit is there, and nothing half of another.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "tests/bank/bank_fixture.h"
#include "tests/bank/lost_power.h"
#include "tests/temp_dir.h"

namespace aoe::bank {
namespace {
namespace fs = std::filesystem;

constexpr int kTraced = 12;

int points() {
  const char* const set =
      std::getenv("AOE_POWER_LOSS_POINTS");  // the run with the label `slow` sets it
  return set != nullptr ? std::atoi(set) : 60;
}

class PowerLoss : public ::testing::Test {
 protected:
#ifdef __SANITIZE_THREAD__
  void SetUp() override {
    GTEST_SKIP() << "the thread sanitizer replaces the calls that are traced";
  }
#endif

  /// What bank_writer does with a bank below `root_`; the tasks that it says are committed are events
  /// of their own.
  std::vector<FileEvent> trace() {
    fs::create_directory(root_);
    const std::string bank = bank_.string(), writer = BANK_WRITER,
                      commits = std::to_string(kTraced);
    const char* arguments[] = {writer.c_str(), bank.c_str(), "1", commits.c_str(), nullptr};
    const std::string variables[] = {
        std::string("LD_PRELOAD=") + TRACE_FILES, "AOE_TRACE_ROOT=" + root_.string(),
        "AOE_TRACE_LOG=" + (temp_ / "log").string(),
        "ASAN_OPTIONS=verify_asan_link_order=0"};  // a sanitizer does not insist on being the first
    std::vector<const char*> environment;
    for (const std::string& each : variables) environment.push_back(each.c_str());
    environment.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t process = -1;
    if (::posix_spawn(&process, writer.c_str(), &actions, nullptr, const_cast<char**>(arguments),
                      const_cast<char**>(environment.data())) != 0)
      throw std::runtime_error("posix_spawn");
    posix_spawn_file_actions_destroy(&actions);
    int status = -1;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
    return read_trace(read_file(temp_ / "log", ExitCode::kBank));
  }

  /// The bank that is found has all tasks up to `acknowledged` and at most one more, each whole; and
  /// the next commit finds nothing in its way.
  void expect_whole(const fs::path& found, int acknowledged) {
    const fs::path directory = found / bank_.lexically_relative(root_);
    KnowledgeBank bank(directory, {.soc_version = kTestSoc});
    const std::size_t count = bank.entries().size();
    EXPECT_GE(count, static_cast<std::size_t>(acknowledged));
    EXPECT_LE(count, static_cast<std::size_t>(acknowledged) + 1);
    EXPECT_EQ(bank.record_count(), count);
    for (int task = 1; task <= static_cast<int>(count); ++task) {
      EXPECT_TRUE(bank.find(test_key(task)));
      EXPECT_EQ(bank.records(test_key(task)).size(), 1U);
    }
    bank.commit({{{test_key(1000), test_strategy("ND", 5)}}, {}});
    EXPECT_EQ(bank.entries().size(), count + 1);
  }

  const aoe::tests::TempDir temp_;
  const fs::path root_ = temp_ / "traced";
  const fs::path bank_ = root_ / "op" / "soc";
};

TEST_F(PowerLoss, NothingAcknowledgedIsLostAndNothingIsHalfThere) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<FileEvent> events = trace();
  ASSERT_GT(events.size(), 50U * kTraced);
  std::multiset<std::size_t> moments;
  for (int i = 0; i < points(); ++i) moments.insert(random() % (events.size() + 1));

  ForgetfulDisk disk(root_);
  int acknowledged = 0;
  for (std::size_t at = 0; at <= events.size(); ++at) {
    for (auto n = moments.count(at); n > 0; --n) {
      SCOPED_TRACE("event " + std::to_string(at) + " of " + std::to_string(events.size()));
      ::testing::internal::CaptureStderr();
      fs::remove_all(temp_ / "found");
      disk.recover(temp_ / "found", n % 2 == 0 || random() % 2 == 0 ? &random : nullptr);
      expect_whole(temp_ / "found", acknowledged);
      ::testing::internal::GetCapturedStderr();
      if (HasFailure()) return;
    }
    if (at == events.size()) break;
    disk.replay(events[at]);
    if (events[at].op == "ack") {
      int task = 0;
      std::memcpy(&task, events[at].data.data(), sizeof task);
      acknowledged = task;
    }
  }
  EXPECT_EQ(acknowledged, kTraced);
}

/// Each sync waits for the disk, which is most of what a commit costs: one for each new file, and for its directories.
TEST_F(PowerLoss, ACommitSyncsEachFileOnce) {
  constexpr int kFiles =
      14;  // tables of three families, what RocksDB and we say of them, directories
  int syncs = 0, commits = 0;
  for (const FileEvent& event : trace()) {
    if (event.op == "sync") ++syncs;
    if (event.op != "ack") continue;
    ++commits;
    EXPECT_TRUE(commits == 1 || syncs <= kFiles)
        << syncs << " of commit " << commits;  // the first makes the bank
    syncs = 0;
  }
  EXPECT_EQ(commits, kTraced);
}

/// The check itself: without the syncs, losses are found.
TEST_F(PowerLoss, ADiskThatIsNeverSyncedLosesWhatWasAcknowledged) {
  ForgetfulDisk disk(root_);
  for (const FileEvent& event : trace())
    if (event.op != "sync") disk.replay(event);
  disk.recover(temp_ / "found", nullptr);
  EXPECT_TRUE(fs::is_empty(temp_ / "found"));
}

}  // namespace
}  // namespace aoe::bank
