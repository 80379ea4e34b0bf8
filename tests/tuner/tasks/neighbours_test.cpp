// Winners of similar tasks become seeds: nearest first, fitted, and from the bank as from this run.
#include "tuner/tasks/neighbours.h"

#include <gtest/gtest.h>

#include "tests/tuner/fakes.h"
#include "tuner/search/sampler.h"

namespace aoe::tuner {
namespace {
using compiler::strategy_of;
using tests::fake_task;
using tests::FakeImpl;

class Neighbours : public ::testing::Test {
 protected:
  Neighbours() {
    task_.task = fake_task(64);
    task_.heuristics = {impl_.at(1, 1), impl_.at(1, 1, "NHWC")};
  }
  std::vector<std::string> seeds(const std::vector<Neighbour>& neighbours, std::size_t count) {
    std::vector<std::string> texts;
    for (const auto& seed : seeds_from_neighbours(task_, neighbours, soc_, count))
      texts.push_back(to_text(seed));
    return texts;
  }

  const compiler::Soc soc_ = tests::fake_soc();
  const FakeImpl impl_{"fake"};
  OperatorTask task_;
};

TEST_F(Neighbours, NearestShapesOfTheSameOpSeedFirst) {
  compiler::Task other_op = fake_task(64);
  other_op.op.type = "Sigmoid";
  const std::vector<Neighbour> neighbours = {
      neighbour_of(fake_task(4), strategy_of(impl_.at(2, 2))),
      neighbour_of(fake_task(48), strategy_of(impl_.at(8, 3))),
      neighbour_of(other_op, strategy_of(impl_.at(16, 6)))};
  EXPECT_EQ(seeds(neighbours, 8), (std::vector{to_text(impl_.at(8, 3)), to_text(impl_.at(2, 2))}));
  EXPECT_EQ(seeds(neighbours, 1).size(), 1U);
}

TEST_F(Neighbours, OtherVersionsImplsAndFormatsSeedNothing) {
  bank::Strategy old_version = strategy_of(impl_.at(2, 2));
  ++old_version.impl_version;
  bank::Strategy other_impl = strategy_of(impl_.at(2, 2));
  other_impl.impl = "gone";
  bank::Strategy other_format = strategy_of(impl_.at(2, 2));
  other_format.format = "NC1HWC0";
  for (const auto& strategy : {old_version, other_impl, other_format})
    EXPECT_TRUE(seeds({neighbour_of(fake_task(48), strategy)}, 8).empty());
}

TEST_F(Neighbours, TheBanksTasksAreAsNearAsThoseOfThisRun) {
  bank::Strategy strategy = strategy_of(impl_.at(8, 3));
  const compiler::Task task = fake_task(48);
  bank::BankEntry entry{compiler::key_of(task, soc_), {{strategy}}};
  EXPECT_FALSE(neighbour_of(entry));  // nothing won
  entry.set.strategies[0].measured.verdict = "faster";
  const auto from_bank = neighbour_of(entry);
  ASSERT_TRUE(from_bank);
  const Neighbour from_run = neighbour_of(task, strategy);
  EXPECT_EQ(from_bank->op_type, from_run.op_type);
  EXPECT_EQ(from_bank->shapes, from_run.shapes);
  EXPECT_EQ(seeds({*from_bank}, 8), std::vector{to_text(impl_.at(8, 3))});
}

}  // namespace
}  // namespace aoe::tuner
