// Banks put together as a stream: nothing is lost, doubled or out of order, whatever the sources are.
#include "bank/merge_banks.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/bank/bank_fixture.h"
#include "tests/temp_dir.h"

namespace aoe::bank {
namespace {
namespace fs = std::filesystem;

class MergeBanks : public ::testing::Test {
 protected:
  fs::path root(const std::string& name) const { return temp_ / name; }
  static fs::path below(const fs::path& root) { return root / "op" / kTestSoc; }

  /// Tasks first..end, each won in `time_ns` with a tile of `tile`, and measured once with seed `tile`.
  void fill(const std::string& name, int first, int end, double time_ns, std::int64_t tile) {
    KnowledgeBank bank(below(root(name)), {kTestSoc});
    for (int i = first; i < end; ++i) {
      const Strategy won = test_strategy("ND", time_ns, tile);
      bank.commit({.strategies = {{test_key(i), won}},
                   .records = {{test_key(i), {won, "ok", "", static_cast<std::uint64_t>(tile)}}}});
    }
  }

  MergedBank merge(const std::vector<fs::path>& sources) {
    const auto merged = merge_banks(sources, root("merged"));
    EXPECT_EQ(merged.size(), 1U);
    return merged.begin()->second;
  }
  KnowledgeBank merged() const { return KnowledgeBank(below(root("merged")), {kTestSoc}); }

  tests::TempDir temp_;
};

TEST_F(MergeBanks, WhatIsInBothFollowsTheRuleAndTheRestIsThere) {
  fill("a", 0, 40, 10, 1);
  fill("b", 20, 60, 8, 2);  // the same gain, and faster
  const MergedBank made = merge({root("a"), root("b")});
  EXPECT_EQ(made.tasks, 60U);
  EXPECT_EQ(made.measurements, 80U);
  EXPECT_EQ(made.conflicts.size(), 20U);
  const KnowledgeBank bank = merged();
  EXPECT_EQ(bank.entries().size(), 60U);
  for (int i = 0; i < 60; ++i) {
    const auto found = bank.find(test_key(i));
    ASSERT_TRUE(found) << i;
    EXPECT_EQ(found->strategies.at(0).schedule.at("tile"), i < 20 ? 1 : 2) << i;
  }
}

TEST_F(MergeBanks, MeasurementsOfBothStayOnceInTheirOrder) {
  fill("a", 1, 2, 10, 1);
  fill("a", 1, 2, 10, 2);
  fill("b", 1, 2, 10, 2);
  fill("b", 1, 2, 10, 3);
  const MergedBank made = merge({root("a"), root("b")});
  EXPECT_EQ(made.measurements, 3U);
  std::vector<std::uint64_t> seeds;
  for (const Record& record : merged().records(test_key(1))) seeds.push_back(record.seed);
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(merged().recent_records(100).size(), 3U);
}

TEST_F(MergeBanks, FilesAndOldBanksAreSourcesAsWell) {
  const std::string command =
      "tar -xJf '" BANK_FIXTURES "/schema1.tar.xz' -C '" + temp_.path().string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const BankContent file = read_bank_file(BANK_FIXTURES "/schema1.zst");
  const MergedBank made = merge({BANK_FIXTURES "/schema1.zst", temp_ / "schema1"});
  EXPECT_EQ(made.tasks, file.entries.size());
  EXPECT_EQ(made.measurements, file.records.size());
  EXPECT_TRUE(made.conflicts.empty());
  for (const FileEntry& each : file.entries) {
    const auto found = merged().find(each.entry.key);
    ASSERT_TRUE(found);
    EXPECT_EQ(to_json(*found), to_json(each.entry.set));
  }
}

TEST_F(MergeBanks, WithdrawnTasksAndEmptyBanksAddNothing) {
  fill("a", 1, 3, 10, 1);
  KnowledgeBank(below(root("a")), {kTestSoc}).commit({.withdrawn = {test_key(1)}});
  fs::create_directories(below(root("b")));
  const MergedBank made = merge({root("a"), root("b")});
  EXPECT_EQ(made.tasks, 1U);
  EXPECT_FALSE(merged().find(test_key(1)));
  EXPECT_EQ(merged().record_count(), 2U);
}

TEST_F(MergeBanks, AMergedBankGoesOnAsAnyOther) {
  fill("a", 0, 30, 10, 1);
  merge({root("a")});
  fill("merged", 30, 60, 10, 1);
  EXPECT_EQ(merged().entries().size(), 60U);
  EXPECT_EQ(merged().record_count(), 60U);
}

TEST_F(MergeBanks, ABankThatIsThereIsNotWrittenOver) {
  fill("a", 0, 1, 10, 1);
  merge({root("a")});
  EXPECT_THROW(merge_banks({root("a")}, root("merged")), Error);
}

}  // namespace
}  // namespace aoe::bank
