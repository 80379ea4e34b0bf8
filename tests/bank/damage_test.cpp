// What a bank does when its directory is not as it was left: an error, or a stated fallback to the
// newest whole snapshot; never silently less.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <random>
#include <set>

#include "bank/health.h"
#include "base/error.h"
#include "base/file.h"
#include "tests/bank/bank_fixture.h"
#include "tests/temp_dir.h"

namespace aoe::bank {
namespace {
namespace fs = std::filesystem;

constexpr int kCommits = 4;

using Damage = std::function<void(const fs::path&)>;
struct NamedDamage {
  const char* name;
  Damage inflict;
};

void overwrite(const fs::path& file, const std::string& bytes) {
  // A new file: the old one may be shared with other snapshots.
  fs::remove(file);
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string bytes_of(const fs::path& file) {
  return read_file(file, ExitCode::kBank);
}

const std::vector<NamedDamage>& damages() {
  static const std::vector<NamedDamage> list = {
      {"empty", [](const fs::path& file) { overwrite(file, ""); }},
      {"zeroed", [](const fs::path& f) { overwrite(f, std::string(bytes_of(f).size(), '\0')); }},
      {"cut", [](const fs::path& f) { overwrite(f, bytes_of(f).substr(0, fs::file_size(f) / 2)); }},
      {"last byte cut",
       [](const fs::path& f) {
         const std::string bytes = bytes_of(f);
         overwrite(f, bytes.substr(0, bytes.size() - std::min<std::size_t>(bytes.size(), 1)));
       }},
      {"gone", [](const fs::path& file) { fs::remove(file); }},
  };
  return list;
}

class DamagedBank : public ::testing::Test {
 protected:
  KnowledgeBank open() { return KnowledgeBank(directory_, {kTestSoc}); }

  void make(int commits = kCommits) {
    fs::remove_all(directory_);
    KnowledgeBank bank = open();
    for (int task = 1; task <= commits; ++task) commit(bank, task);
  }
  /// Whether anything but snapshots and lock lies in the bank.
  bool has_temporary() const {
    for (const auto& entry : fs::directory_iterator(directory_))
      if (entry.path().filename().string().find(".tmp") != std::string::npos) return true;
    return false;
  }
  static void commit(KnowledgeBank& bank, int task) {
    bank.commit({{{test_key(task), test_strategy("ND", 5)}},
                 {{test_key(task), {test_strategy("ND", 5), "ok", "", 1}}}});
  }
  fs::path snapshot(int number) const {
    return directory_ / ("snapshot-" + std::to_string(number));
  }
  std::vector<fs::path> files_of(int number) const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(snapshot(number))) files.push_back(entry);
    return files;
  }
  fs::path manifest_of(int number) const {
    for (const fs::path& file : files_of(number))
      if (file.filename().string().starts_with("MANIFEST")) return file;
    return {};
  }

  /// The number of tasks and records that are there; -1 when the bank says that it is damaged.
  /// `words` is what was said on stderr, or the error.
  int known(std::string& words) {
    ::testing::internal::CaptureStderr();
    int count = 0;
    std::string error;
    try {
      const KnowledgeBank bank = open();
      count = static_cast<int>(bank.entries().size());
      if (static_cast<int>(bank.record_count()) != count) count = 1000;
      for (int task = 1; task <= count; ++task) {
        EXPECT_TRUE(bank.find(test_key(task)));
        EXPECT_EQ(bank.records(test_key(task)).size(), 1U);
      }
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kBank) << e.what();
      error = e.what();
      count = -1;
    }
    words = ::testing::internal::GetCapturedStderr() + error;
    return count;
  }

  /// Nothing is lost silently, and the next commit goes on from what is known.
  void expect_no_silent_loss(bool tries_commit) {
    std::string words;
    const int count = known(words);
    if (count == -1) {
      EXPECT_NE(words.find(directory_.string()), std::string::npos) << words;
      EXPECT_EQ(words.find('\n'), std::string::npos) << words;
      EXPECT_THROW(try_commit(), Error);
      return;
    }
    if (count != kCommits) {
      EXPECT_EQ(count, kCommits - 1) << words;
      EXPECT_NE(words.find("fell back to the newest whole snapshot"), std::string::npos) << words;
    }
    if (!tries_commit) return;
    ::testing::internal::CaptureStderr();
    try_commit();
    const std::string said = ::testing::internal::GetCapturedStderr();
    if (count != kCommits) {
      EXPECT_NE(said.find("fell back"), std::string::npos) << said;
    }
    const KnowledgeBank bank = open();
    EXPECT_EQ(bank.entries().size(), static_cast<std::size_t>(count) + 1);
    EXPECT_EQ(bank.record_count(), static_cast<std::size_t>(count) + 1);
  }
  void try_commit() {
    KnowledgeBank bank = open();
    commit(bank, 100);
  }

  tests::TempDir temp_;
  fs::path directory_ = temp_ / "bank";
};

TEST_F(DamagedBank, EveryFileOfTheNewestSnapshotInEveryWay) {
  make();
  std::set<std::string> names;
  for (const fs::path& file : files_of(kCommits)) names.insert(file.filename().string());
  ASSERT_TRUE(names.contains("SEAL"));
  fs::rename(directory_, temp_ / "good");
  for (const std::string& name : names)
    for (const NamedDamage& damage : damages()) {
      SCOPED_TRACE(name + " " + damage.name);
      fs::remove_all(directory_);
      fs::copy(temp_ / "good", directory_, fs::copy_options::recursive);
      damage.inflict(snapshot(kCommits) / name);
      expect_no_silent_loss(damage.name == std::string("cut"));
    }
}

TEST_F(DamagedBank, SealAndManifestTogetherAreNoEmptyBank) {
  for (const int commits : {1, kCommits})
    for (const NamedDamage& damage : damages()) {
      SCOPED_TRACE(std::string(damage.name) + " of " + std::to_string(commits));
      make(commits);
      damage.inflict(snapshot(commits) / "SEAL");
      fs::resize_file(manifest_of(commits), fs::file_size(manifest_of(commits)) / 2);
      std::string words;
      EXPECT_EQ(known(words), commits == 1 ? -1 : commits - 1) << words;
      EXPECT_NE(words.find("SEAL"), std::string::npos) << words;
    }
}

TEST_F(DamagedBank, ASealOfAnotherTypeIsDamage) {
  for (const char* seal : {"null", "[]", "{}", "7", "\"\"", "{\"CURRENT\":null}", "{\"CURRENT\""}) {
    make(2);
    overwrite(snapshot(2) / "SEAL", seal);
    std::string words;
    EXPECT_EQ(known(words), 1) << seal << words;
    EXPECT_NE(words.find("fell back"), std::string::npos) << words;
  }
}

TEST_F(DamagedBank, FlippedBitsAreErrorsOrFallbacksOrHarmless) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  make();
  fs::rename(directory_, temp_ / "good");
  for (int round = 0; round < 25; ++round) {
    fs::remove_all(directory_);
    fs::copy(temp_ / "good", directory_, fs::copy_options::recursive);
    const auto files = files_of(kCommits);
    const fs::path file = files[random() % files.size()];
    std::string bytes = bytes_of(file);
    if (bytes.empty()) continue;
    const auto at = random() % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    overwrite(file, bytes);
    SCOPED_TRACE(file.filename().string() + " byte " + std::to_string(at));
    std::string words;
    const int count = known(words);
    EXPECT_TRUE(count == -1 || count == kCommits ||
                (count == kCommits - 1 && words.find("fell back") != std::string::npos))
        << count << words;
  }
}

TEST_F(DamagedBank, GoodSnapshotsAreNotPrunedBecauseOfDamagedOnes) {
  make();  // 2, 3 and 4 are there
  for (const int number : {3, 4}) overwrite(snapshot(number) / "SEAL", "");
  ::testing::internal::CaptureStderr();
  try_commit();
  ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(fs::exists(snapshot(2)));
  EXPECT_TRUE(fs::exists(snapshot(5)));
  EXPECT_EQ(open().entries().size(), 3U) << "tasks 1, 2 and 100";
}

TEST_F(DamagedBank, LostSnapshotsAreAnErrorAndNothingIsPublished) {
  make();
  for (int number = 1; number <= kCommits; ++number) fs::remove_all(snapshot(number));
  std::string words;
  EXPECT_EQ(known(words), -1) << words;
  EXPECT_THROW(try_commit(), Error);
  EXPECT_FALSE(fs::exists(snapshot(1)));
}

TEST_F(DamagedBank, WrongTypedMarkersAreErrors) {
  make(1);
  const std::string good = bytes_of(directory_ / "BANK");
  for (const char* marker :
       {"", "null", "7", "[]", "{}", "{\"kind\":7}", R"({"kind":"aoe knowledge bank"})",
        R"({"kind":"aoe knowledge bank","layout":"1","soc_version":"x86_64-test-2t"})",
        R"({"kind":"aoe knowledge bank","layout":1.5,"soc_version":"x86_64-test-2t"})",
        R"({"kind":"aoe knowledge bank","layout":-1,"soc_version":"x86_64-test-2t"})",
        R"({"kind":"aoe knowledge bank","layout":1,"soc_version":7})",
        R"({"kind":"aoe knowledge bank","layout":1,"soc_version":null})",
        R"({"kind":"aoe knowledge bank","layout":2,"soc_version":"x86_64-test-2t","is_new":"no"})",
        R"({"kind":["aoe knowledge bank"],"layout":1,"soc_version":"x86_64-test-2t"})",
        R"({"kind":"aoe knowledge bank","layout":99999999999999999999999,"soc_version":"x"})",
        R"({"kind":"aoe knowledge bank","layout":9223372036854775807,"soc_version":"x"})"}) {
    SCOPED_TRACE(marker);
    overwrite(directory_ / "BANK", marker);
    std::string words;
    EXPECT_EQ(known(words), -1) << words;
    EXPECT_THROW(open(), Error);
  }
  overwrite(directory_ / "BANK", good);
  EXPECT_NO_THROW(try_commit());
}

TEST_F(DamagedBank, OddNamesOfSnapshotsAreErrors) {
  make(1);
  for (const char* name :
       {"snapshot-", "snapshot-x", "snapshot-1x", "snapshot-01", "snapshot--1", "snapshot- 1",
        "snapshot-99999999999999999999999", "snapshot-18446744073709551615"}) {
    SCOPED_TRACE(name);
    fs::create_directory(directory_ / name);
    std::string words;
    EXPECT_EQ(known(words), -1) << words;
    EXPECT_NE(words.find(name), std::string::npos) << words;
    EXPECT_THROW(try_commit(), Error);
    fs::remove(directory_ / name);
  }
  // A file that has a snapshot's name is a damaged snapshot.
  std::ofstream(snapshot(2)) << "x";
  std::string words;
  EXPECT_EQ(known(words), 1) << words;
  EXPECT_NE(words.find("fell back"), std::string::npos) << words;
}

/// A link that somebody laid under a name of ours leads nowhere.
TEST_F(DamagedBank, CommitsFollowNoLinksOfOthers) {
  make(1);
  const fs::path elsewhere = temp_ / "elsewhere";
  fs::create_directory(elsewhere);
  std::ofstream(elsewhere / "precious") << "x";
  for (const char* name : {"snapshot.tmp", "discarded.tmp"})
    fs::create_directory_symlink(elsewhere, directory_ / name);
  try_commit();
  EXPECT_TRUE(fs::exists(elsewhere / "precious"));
  EXPECT_EQ(std::distance(fs::directory_iterator(elsewhere), {}), 1);
  EXPECT_FALSE(fs::is_symlink(directory_ / "snapshot.tmp"));
}

TEST_F(DamagedBank, WhatACommitThatDiedLeavesBehindIsRemoved) {
  make(2);
  const std::vector<std::string> left = {"snapshot.tmp", "discarded.tmp",
                                         "snapshot.tmp0123456789abcdef",
                                         "discarded.tmp0123456789abcdef"};
  for (const std::string& name : left) {
    fs::copy(snapshot(1), directory_ / name);
    std::ofstream(directory_ / name / "junk") << "x";
  }
  std::string words;
  EXPECT_EQ(known(words), 2) << words;
  EXPECT_EQ(words, "");
  try_commit();
  for (const std::string& name : left) EXPECT_FALSE(fs::exists(directory_ / name)) << name;
  EXPECT_FALSE(has_temporary());
  for (const fs::path& file : files_of(3)) EXPECT_NE(file.filename(), "junk");
}

// ---- banks of earlier versions ----

class OldBank : public DamagedBank {
 protected:
  static constexpr int kCommits = 5;
  /// Commits of tasks 1 to 5 by the last version that had a live database in db/.
  OldBank() {
    const std::string command =
        "tar -xJf '" BANK_FIXTURES "/layout1.tar.xz' -C '" + temp_.path().string() + "'";
    if (std::system(command.c_str()) != 0) throw std::runtime_error(command);
    fs::rename(temp_ / "layout1", directory_);
  }
};

TEST_F(OldBank, IsReadAndGoesOn) {
  std::string words;
  EXPECT_EQ(known(words), kCommits) << words;
  EXPECT_EQ(words, "");
  try_commit();
  EXPECT_EQ(open().entries().size(), kCommits + 1U);
  EXPECT_EQ(open().record_count(), kCommits + 1U);
  EXPECT_FALSE(fs::exists(directory_ / "db")) << "programs that write it must not go on with it";
}

TEST_F(OldBank, ALostOrDamagedLiveDatabaseLosesNothing) {
  const auto manifest = [](const fs::path& db) {
    for (const auto& entry : fs::directory_iterator(db))
      if (entry.path().filename().string().starts_with("MANIFEST")) return entry.path();
    return fs::path();
  };
  fs::rename(directory_, temp_ / "old");
  const std::vector<NamedDamage> live_damages = {
      {"gone", [](const fs::path& db) { fs::remove_all(db); }},
      {"empty", [](const fs::path& db) { fs::remove_all(db), fs::create_directory(db); }},
      {"cut", [&](const fs::path& db) { fs::resize_file(manifest(db), 100); }},
      {"no CURRENT", [](const fs::path& db) { fs::remove(db / "CURRENT"); }},
  };
  for (const NamedDamage& damage : live_damages) {
    SCOPED_TRACE(damage.name);
    fs::remove_all(directory_);
    fs::copy(temp_ / "old", directory_, fs::copy_options::recursive);
    damage.inflict(directory_ / "db");
    for (int i = 0; i < 4; ++i) {
      KnowledgeBank bank = open();
      commit(bank, 100 + i);
      EXPECT_EQ(bank.entries().size(), kCommits + 1U + i);
    }
  }
}

// ---- permissions ----

/// Runs bank_writer's `read` as somebody who may not write, and returns its exit status; the number
/// of tasks comes through `tasks`.
int read_as_nobody(const fs::path& directory, int& tasks) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const std::string reader = BANK_WRITER, path = directory.string();
  std::vector<const char*> arguments;
  if (::geteuid() == 0) arguments = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  arguments.insert(arguments.end(), {reader.c_str(), path.c_str(), "read", nullptr});
  pid_t process = -1;
  if (::posix_spawnp(&process, arguments[0], &actions, nullptr,
                     const_cast<char**>(arguments.data()), environ) != 0)
    throw std::runtime_error("posix_spawn");
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  tasks = -1;
  if (::read(ends[0], &tasks, sizeof tasks) != sizeof tasks) tasks = -1;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(process, &status, 0);
  return status;
}

void set_mode(const fs::path& directory, fs::perms directories, fs::perms files) {
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    fs::permissions(entry, entry.is_directory() ? directories : files);
  fs::permissions(directory, directories);
}

TEST_F(DamagedBank, ReadingNeedsNoPermissionToWrite) {
  make();
  fs::permissions(temp_.path(), static_cast<fs::perms>(0755));
  set_mode(directory_, static_cast<fs::perms>(0555), static_cast<fs::perms>(0444));
  int tasks = 0;
  EXPECT_EQ(read_as_nobody(directory_, tasks), 0);
  EXPECT_EQ(tasks, kCommits);
  set_mode(directory_, static_cast<fs::perms>(0755), static_cast<fs::perms>(0644));
}

TEST_F(DamagedBank, WhatMayNotBeReadIsNoEmptyBank) {
  make();
  fs::permissions(temp_.path(), static_cast<fs::perms>(0755));
  for (const int mode : {0000, 0111, 0444}) {
    fs::permissions(directory_, static_cast<fs::perms>(mode));
    int tasks = 0;
    EXPECT_EQ(WEXITSTATUS(read_as_nobody(directory_, tasks)), 5) << mode;
    EXPECT_EQ(tasks, -1);
  }
  fs::permissions(directory_, static_cast<fs::perms>(0755));
}

// ---- before work begins ----

TEST_F(DamagedBank, RequireWritableFindsOutAndChangesNothing) {
  open().require_writable();
  std::string words;
  EXPECT_EQ(known(words), 0) << words;
  make(2);
  open().require_writable();
  EXPECT_EQ(known(words), 2) << words;
  EXPECT_FALSE(has_temporary());
  std::ofstream(temp_ / "file") << "x";
  EXPECT_THROW(KnowledgeBank(temp_ / "file" / "bank", {kTestSoc}).require_writable(), Error);
}

/// What the process lacks is no damage: a repair would move whole snapshots aside.
TEST(BankHealth, LackOfDescriptorsIsNoDamage) {
  const tests::TempDir directory;
  {
    KnowledgeBank bank(directory.path(), {kTestSoc});
    bank.commit({{{test_key(1), test_strategy("ND", 5)}}, {}});
  }
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ::close(next);
  for (int more = 0; more < 12; ++more) {
    const rlimit few{static_cast<rlim_t>(next + more), before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    std::string said;
    try {
      if (!examine(directory.path()).damage.empty()) said = "damaged";
    } catch (const std::exception&) {
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(said, "") << more << " descriptors";
  }
}

}  // namespace
}  // namespace aoe::bank
