// The rule by which banks are merged, and what two banks do not say alike.
#include "bank/merge_content.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/bank/bank_fixture.h"
#include "tests/temp_dir.h"

namespace aoe::bank {
namespace {

Strategy measured(double time_ns, double default_time_ns, std::int64_t tile,
                  const std::string& when = "2026-01-01T00:00:00Z") {
  Strategy strategy = test_strategy("ND", time_ns, tile);
  strategy.measured.default_time_ns = default_time_ns;
  strategy.measured.when_utc = when;
  return strategy;
}

BankContent content(std::vector<std::pair<int, Strategy>> strategies) {
  BankContent made{BankKind::kOp, kTestSoc, {}, {}};
  for (auto& [task, strategy] : strategies)
    made.entries.push_back({{.key = test_key(task), .set = {{std::move(strategy)}}}});
  return made;
}

TEST(MergeContent, TheBetterPairedMeasurementWins) {
  struct Case {
    Strategy first, second;
    std::int64_t taken;
  };
  const Case cases[] = {
      {measured(10, 20, 1), measured(8, 12, 2), 1},  // 2.0 against 1.5, though it is slower
      {measured(8, 12, 1), measured(10, 20, 2), 2},
      {measured(5, 0, 1), measured(10, 11, 2), 2},   // measured beside its default
      {measured(10, 20, 1), measured(5, 10, 2), 2},  // the same gain: the faster
      {measured(5, 10, 1, "2026-01-01T00:00:00Z"), measured(5, 10, 2, "2026-02-01T00:00:00Z"), 2},
      {measured(5, 10, 1), measured(5, 10, 2), 1},  // the same in all: the first bank's
  };
  for (const Case& each : cases) {
    StrategySet into{{each.first}};
    std::vector<MergeConflict> conflicts;
    merge_sets(test_key(1), into, {{each.second}}, &conflicts);
    EXPECT_EQ(into.strategies.at(0).schedule.at("tile"), each.taken);
    ASSERT_EQ(conflicts.size(), 1U);
    EXPECT_EQ(conflicts[0].taken.schedule.at("tile"), each.taken);
  }
}

TEST(MergeContent, TheSameCandidateIsNoConflict) {
  StrategySet into{{measured(10, 20, 1)}};
  std::vector<MergeConflict> conflicts;
  merge_sets(test_key(1), into, {{measured(9, 20, 1)}}, &conflicts);
  EXPECT_TRUE(conflicts.empty());
  ASSERT_EQ(into.strategies.size(), 1U);
  EXPECT_EQ(into.strategies[0].measured.time_ns, 9);
}

TEST(MergeContent, DifferencesAreOfCandidatesNotOfTimes) {
  const BankContent left = content({{1, measured(10, 20, 1)}, {2, measured(1, 2, 1)}});
  const BankContent right =
      content({{1, measured(9, 20, 1)}, {2, measured(1, 2, 7)}, {3, measured(1, 2, 1)}});
  const auto different = differences(left, right);
  ASSERT_EQ(different.size(), 2U);
  EXPECT_EQ(different[0].key.description, test_key(2).description);
  EXPECT_TRUE(different[1].left.strategies.empty());
  EXPECT_TRUE(differences(left, left).empty());
}

TEST(MergeContent, FindsBanksBelowARootInADirectoryAndInAFile) {
  const tests::TempDir temp;
  for (const char* kind : {"op", "graph"})
    KnowledgeBank(temp / kind / kTestSoc, {kTestSoc})
        .commit({.strategies = {{test_key(1), test_strategy("ND", 1)}}, .records = {}});
  KnowledgeBank(temp / "op" / "other", {"other"})
      .commit({.strategies = {{{test_key(1).description, "other"}, test_strategy("ND", 1)}},
               .records = {}});
  EXPECT_EQ(contents_at(temp.path()).size(), 3U);
  const auto graph = contents_at(temp / "graph" / kTestSoc);
  ASSERT_EQ(graph.size(), 1U);
  EXPECT_EQ(to_text(graph.begin()->first), std::string("graph/") + kTestSoc);
  write_bank_file(temp / "bank.zst", graph.begin()->second);
  EXPECT_EQ(contents_at(temp / "bank.zst").begin()->second.entries.size(), 1U);
  EXPECT_THROW(contents_at(temp / "absent"), Error);
}

}  // namespace
}  // namespace aoe::bank
