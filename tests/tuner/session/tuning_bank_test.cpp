// A bank that fails in the middle of a run loses nothing.
#include <gtest/gtest.h>

#include "bank/bank_file.h"
#include "tests/tuner/session/operator_session.h"

namespace aoe::tuner {
namespace {
using nlohmann::json;
using tests::kDefaultNs;
using tests::Session;
namespace fs = std::filesystem;

TEST_F(Session, ABankThatFailsInTheMiddleLosesNothing) {
  options_.on_progress = [&](const Progress& progress) {
    if (progress.stage != Stage::kSearch || progress.tasks_done != 1) return;
    fs::remove_all(temp_ / "bank");  // and nobody can make it again
    write_file_atomically(temp_ / "bank", "in the way");
  };
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_TRUE(outcome.om_written);
  expect_counters(kTasks, 0, 0, 0);
  ASSERT_EQ(outcome.rescued.size(), 1U);
  EXPECT_FALSE(outcome.rescued.front().cause.empty());

  fs::remove(temp_ / "bank");
  const auto content = bank::read_bank_file(outcome.rescued.front().file);
  EXPECT_EQ(content.kind, bank::BankKind::kOp);
  bank::KnowledgeBank bank = open_bank();
  bank.commit(bank::commit_of(content, bank));
  const runtime::Om om = runtime::Om::load(options_.tuned_om_path);
  for (const json& node : om.tuning.at("nodes")) EXPECT_EQ(node.at("source"), "bank");
  // Confirmed: those that were won after the bank had gone, and the one before.
  EXPECT_EQ(winners().size(), static_cast<std::size_t>(kTasks));
  EXPECT_TRUE(unconfirmed().empty());
  EXPECT_FALSE(bank.all_records().empty());
}

TEST_F(Session, ABankThatFailsForAWhileHasItAllInTheEnd) {
  options_.on_progress = [&](const Progress& progress) {
    if (progress.stage == Stage::kSearch && progress.tasks_done == 1 &&
        !fs::exists(temp_ / "away")) {
      fs::rename(temp_ / "bank", temp_ / "away");
      write_file_atomically(temp_ / "bank", "in the way");
    }
    if (progress.stage == Stage::kConfirm && fs::exists(temp_ / "away")) {
      fs::remove(temp_ / "bank");
      fs::rename(temp_ / "away", temp_ / "bank");
    }
  };
  const TuneOutcome outcome = tune();
  EXPECT_TRUE(outcome.rescued.empty());
  EXPECT_EQ(winners().size(), static_cast<std::size_t>(kTasks));
  for (const auto& entry : fs::directory_iterator(temp_.path()))
    EXPECT_NE(entry.path().extension(), ".zst");
}

}  // namespace
}  // namespace aoe::tuner
