// What is removed is gone and nothing else is; backups bring a bank back; a damaged bank is seen as such and gives what it
// still has.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "bank/health.h"
#include "bank/marker.h"
#include "base/error.h"
#include "base/file.h"
#include "tests/bank/bank_fixture.h"
#include "tests/temp_dir.h"

namespace aoe::bank {
namespace {
namespace fs = std::filesystem;

class Upkeep : public ::testing::Test {
 protected:
  KnowledgeBank open() { return KnowledgeBank(directory_, {kTestSoc}); }
  BankRepair repair_it() { return repair(directory_, {kTestSoc}); }
  void commit(int task, double time_ns = 5) {
    open().commit({{{test_key(task), test_strategy("ND", time_ns)}},
                   {{test_key(task), {test_strategy("ND", time_ns), "ok", "", 1}}}});
  }
  fs::path snapshot(int number) const {
    return directory_ / ("snapshot-" + std::to_string(number));
  }
  /// Under another name than the file that snapshots share.
  static void overwrite(const fs::path& file, const std::string& bytes) {
    fs::remove(file);
    std::ofstream(file, std::ios::binary) << bytes;
  }
  static void flip_a_bit_of(const fs::path& file, std::size_t at) {
    std::string bytes = read_file(file, ExitCode::kBank);
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
    overwrite(file, bytes);
  }
  static std::vector<fs::path> tables_of(const fs::path& snapshot) {
    std::vector<fs::path> tables;
    for (const auto& entry : fs::directory_iterator(snapshot))
      if (entry.path().extension() == ".sst") tables.push_back(entry.path());
    return tables;
  }
  std::size_t entries() { return open().entries().size(); }

  const tests::TempDir temp_;
  const fs::path directory_ = temp_ / "bank";
};

TEST_F(Upkeep, ACommitThatFailsLeavesNoCopy) {
  commit(1);
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory_))
      found.insert(entry.path().filename().string());
    return found;
  };
  const std::set<std::string> before = names();
  fs::create_directory(temp_ / "no backups");
  EXPECT_THROW(open().restore(temp_ / "no backups"), Error);
  EXPECT_EQ(names(), before);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Upkeep, RemovesWhatIsAskedAndNothingElse) {
  for (int task = 1; task <= 4; ++task) commit(task);
  KnowledgeBank bank = open();
  bank.commit({.strategies = {{test_key(2), test_strategy("NHWC", 9)},
                              {test_key(3), test_strategy("ND", 1), true, false}},
               .records = {}});
  const RemovedCount removed = bank.remove(
      {.strategies =
           [](const TaskKey& key, const Strategy& s) {
             return key.description == test_key(3).description || s.format == "NHWC";
           },
       .records = [](const NewRecord& r) { return r.task.digest == test_key(1).digest(); }});
  EXPECT_EQ(removed.strategies, 3U);  // of task 3 the unconfirmed one as well
  EXPECT_EQ(removed.records, 1U);
  EXPECT_EQ(bank.entries().size(), 3U);
  EXPECT_FALSE(bank.find(test_key(3)) || bank.find_unconfirmed(test_key(3)));
  EXPECT_EQ(bank.find(test_key(2))->strategies.size(), 1U);
  EXPECT_EQ(bank.record_count(), 3U);
  EXPECT_TRUE(bank.records(test_key(1)).empty());
  commit(5);  // numbers of records go on
  EXPECT_EQ(open().recent_records(1).size(), 1U);
}

TEST_F(Upkeep, RemovingNothingMakesNoSnapshot) {
  commit(1);
  const RemovedCount removed = open().remove(
      {.strategies = [](const TaskKey&, const Strategy&) { return false; }, .records = {}});
  EXPECT_EQ(removed.strategies, 0U);
  EXPECT_FALSE(fs::exists(snapshot(2)));
}

TEST_F(Upkeep, CompactingKeepsAllAndFreesTables) {
  for (int task = 1; task <= 12; ++task) commit(task);
  const std::size_t before = tables_of(snapshot(12)).size();
  open().compact();
  EXPECT_EQ(entries(), 12U);
  EXPECT_EQ(open().record_count(), 12U);
  EXPECT_LE(tables_of(snapshot(13)).size(), 3U);  // one a family
  EXPECT_LT(tables_of(snapshot(13)).size(), before);
  EXPECT_TRUE(examine(directory_).damage.empty());
}

TEST_F(Upkeep, BackupsBringABankBack) {
  commit(1);
  open().back_up(temp_ / "backups");
  commit(2);
  open().back_up(temp_ / "backups");
  commit(3);
  KnowledgeBank bank = open();
  bank.restore(temp_ / "backups");
  EXPECT_EQ(bank.entries().size(), 2U);
  EXPECT_EQ(bank.record_count(), 2U);
  fs::remove_all(directory_);  // and of nothing
  KnowledgeBank fresh = open();
  fresh.restore(temp_ / "backups");
  EXPECT_EQ(fresh.entries().size(), 2U);
  EXPECT_TRUE(examine(directory_).damage.empty());
}

TEST_F(Upkeep, WhatIsNoBackupChangesNothing) {
  commit(1);
  KnowledgeBank bank = open();
  EXPECT_THROW(bank.restore(temp_ / "absent"), Error);
  fs::create_directory(temp_ / "empty");
  EXPECT_THROW(bank.restore(temp_ / "empty"), Error);
  EXPECT_EQ(entries(), 1U);
  EXPECT_FALSE(fs::exists(snapshot(2)));
}

TEST_F(Upkeep, ExamineFindsEveryFlippedBitOfTheNewestSnapshot) {
  for (int task = 1; task <= 2; ++task) commit(task);
  ASSERT_TRUE(examine(directory_).damage.empty());
  EXPECT_EQ(examine(directory_).entries, 2U);
  for (const auto& entry : fs::directory_iterator(snapshot(2))) {
    const fs::path& file = entry.path();
    if (fs::file_size(file) == 0) continue;
    const std::string bytes = read_file(file, ExitCode::kBank);
    for (const std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
      flip_a_bit_of(file, at);
      EXPECT_FALSE(examine(directory_).damage.empty()) << file << " at " << at;
      overwrite(file, bytes);
    }
  }
  EXPECT_TRUE(examine(directory_).damage.empty());
}

/// A run that was killed before its first commit leaves such a bank.
TEST_F(Upkeep, ABankOfNoCommitIsNotDamaged) {
  fs::create_directories(directory_);
  write_marker(directory_, {.soc_version = kTestSoc, .is_new = true});
  const BankHealth health = examine(directory_);
  EXPECT_TRUE(health.damage.empty());
  EXPECT_EQ(health.snapshots, 0u);
  write_marker(directory_, {.soc_version = kTestSoc});
  EXPECT_EQ(examine(directory_).damage.size(), 1u);
}

TEST_F(Upkeep, RepairSalvagesWhatOnlyADamagedSnapshotHas) {
  for (int task = 1; task <= 3; ++task) commit(task);
  overwrite(snapshot(3) / "SEAL", "");
  EXPECT_EQ(entries(), 2U);
  const BankRepair repaired = repair_it();
  EXPECT_EQ(repaired.entries, 1U);
  EXPECT_EQ(repaired.records, 1U);
  ASSERT_EQ(repaired.moved_aside.size(), 1U);
  EXPECT_TRUE(fs::exists(repaired.moved_aside[0]));
  EXPECT_EQ(entries(), 3U);
  EXPECT_TRUE(examine(directory_).damage.empty());
  const BankRepair again = repair_it();
  EXPECT_EQ(again.entries + again.records + again.moved_aside.size(), 0U);
  EXPECT_EQ(entries(), 3U);
}

TEST_F(Upkeep, RepairSalvagesABankWithoutMeasurements) {
  open().commit({.strategies = {{test_key(1), test_strategy("ND", 5)}}, .records = {}});
  open().compact();
  for (int number = 1; number <= 2; ++number) overwrite(snapshot(number) / "SEAL", "");
  const BankRepair repaired = repair_it();
  EXPECT_EQ(repaired.entries, 1U);
  EXPECT_TRUE(repaired.lost.empty()) << repaired.lost.front();
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Upkeep, RepairMakesABankOfRuinsAlone) {
  for (int task = 1; task <= 3; ++task) commit(task);
  for (int number = 1; number <= 3; ++number) overwrite(snapshot(number) / "SEAL", "{}");
  overwrite(directory_ / "BANK", "");
  EXPECT_FALSE(examine(directory_).has_whole_snapshot);
  EXPECT_EQ(repair_it().entries, 3U);
  EXPECT_EQ(entries(), 3U);
  EXPECT_TRUE(examine(directory_).damage.empty());
}

TEST_F(Upkeep, RepairKeepsTheTablesThatCanBeRead) {
  for (int task = 1; task <= 3; ++task) commit(task);
  for (int number = 1; number <= 3; ++number) overwrite(snapshot(number) / "SEAL", "{}");
  for (const fs::path& table : tables_of(snapshot(3))) {
    flip_a_bit_of(table, 0);
    break;  // one table of one family
  }
  const BankRepair repaired = repair_it();
  EXPECT_GT(repaired.entries + repaired.records, 2U);
  EXPECT_TRUE(examine(directory_).damage.empty());
}

TEST_F(Upkeep, ExamineOfNoBankIsAnError) {
  EXPECT_THROW(examine(temp_ / "absent"), Error);
  fs::create_directory(temp_ / "other");
  std::ofstream(temp_ / "other" / "file") << "x";
  EXPECT_FALSE(examine(temp_ / "other").damage.empty());
}

}  // namespace
}  // namespace aoe::bank
