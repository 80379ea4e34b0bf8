// What won for the nearest shape: which tasks are neighbours, and when their winners are taken.
#include "compiler/lowering/near_strategies.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compiler/compiler.h"
#include "graph/graph.h"

namespace aoe::compiler {
namespace {

Soc near_soc() {
  Soc made = detect_soc();
  made.version = "near-test";
  return made;
}

/// One product of (rows x 64) and constant (64 x columns).
graph::Graph near_product(std::int64_t rows, std::int64_t columns,
                          const std::string& type = "MatMulV2") {
  graph::Graph graph;
  graph.name = "product";
  const TensorDesc left{.dtype = DataType::kFloat, .shape = {rows, 64}};
  const TensorDesc right{.dtype = DataType::kFloat, .shape = {64, columns}};
  const TensorDesc out{.dtype = DataType::kFloat, .shape = {rows, columns}};
  const std::vector<float> weights(static_cast<std::size_t>(64 * columns), 0.5f);
  const graph::ValueId a = graph.add_value("a", left, nullptr);
  const graph::ValueId b =
      graph.add_value("b", right, std::make_shared<Constant>(right, weights.data()));
  const graph::ValueId y = graph.add_value("y", out, nullptr);
  graph::Node node{.name = "n", .op = {.type = type}, .inputs = {a, b}, .outputs = {y}};
  graph.add_node(std::move(node));
  graph.inputs = {a};
  graph.outputs = {y};
  return graph;
}

bank::TaskKey near_key(const graph::Graph& graph) {
  return key_of(task_of(graph, 0), near_soc());
}

/// Softmax of rows of 128, whose Schedules all cost the same by the estimate.
graph::Graph near_softmax(std::int64_t rows) {
  graph::Graph graph;
  graph.name = "softmax";
  const TensorDesc rows_of_128{.dtype = DataType::kFloat, .shape = {rows, 128}};
  const graph::ValueId x = graph.add_value("x", rows_of_128, nullptr);
  const graph::ValueId y = graph.add_value("y", rows_of_128, nullptr);
  graph::Node node{.name = "n", .op = {.type = "SoftmaxV2"}, .inputs = {x}, .outputs = {y}};
  graph.add_node(std::move(node));
  graph.inputs = {x};
  graph.outputs = {y};
  return graph;
}

constexpr double kNearlyTheSame =
    1.08;  ///< below what compiler/lowering/node_options.cpp trusts a neighbour with

/// A winner that is not the default: the default's Impl and Format, with an axis of its own, which the model of costs tells from the
/// default's or not.
bank::StrategySet winner_of(const graph::Graph& graph, double gain, bool is_told_apart = true) {
  const Task task = task_of(graph, 0);
  for (const Candidate& each : default_candidates(task, near_soc())) {
    const auto plan = each.impl->plan(task, each.format, near_soc());
    for (const auto& axis : plan->axes())
      for (const std::int64_t value : axis.values) {
        Schedule changed = each.schedule;
        changed[axis.name] = value;
        if (changed == each.schedule || !plan->is_legal(changed) ||
            plan->estimate_ns(changed) > kNearlyTheSame * plan->estimate_ns(each.schedule) ||
            (plan->estimate_ns(changed) != plan->estimate_ns(each.schedule)) != is_told_apart)
          continue;
        bank::Strategy strategy{
            each.format.name, std::string(each.impl->name()), each.impl->version(), changed, {}};
        strategy.measured = {1000 / gain, 1000, "faster", "test", 2, 1, "2026-01-01T00:00:00Z"};
        return {{strategy}};
      }
  }
  return {};
}

class NeighbourBank final : public NearSource {
 public:
  explicit NeighbourBank(std::vector<std::pair<bank::TaskKey, bank::StrategySet>> entries)
      : entries_(std::move(entries)) {}
  Neighbours near(const std::vector<bank::TaskKey>& tasks) const override {
    NearFinder finder(tasks);
    for (const auto& [key, set] : entries_) finder.offer(key, set);
    return finder.take();
  }

 private:
  std::vector<std::pair<bank::TaskKey, bank::StrategySet>> entries_;
};

TEST(NearStrategies, NeighboursDifferInExtentsAlone) {
  const graph::Graph asked = near_product(96, 128);
  const bank::StrategySet won = winner_of(asked, 2);
  ASSERT_TRUE(won.has_winner());
  bank::StrategySet lost = won;
  lost.strategies[0].measured.verdict = "same";
  const graph::Graph other_type = near_product(112, 128, "BatchMatMulV2");
  const NeighbourBank bank({{near_key(near_product(192, 128)), won},
                            {near_key(near_product(112, 128)), won},
                            {near_key(near_product(100, 128)), lost},     // nothing won there
                            {near_key(asked), won},                       // no neighbour of itself
                            {near_key(near_product(1, 128)), won},        // nothing is as one row
                            {near_key(near_product(96 * 64, 128)), won},  // too far
                            {near_key(other_type), won}});
  const Neighbours found = bank.near({near_key(asked)});
  ASSERT_EQ(found.size(), 1U);
  const std::vector<Neighbour>& list = found.begin()->second;
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].repo_key, near_key(near_product(112, 128)).repo_key());
  EXPECT_EQ(list[1].repo_key, near_key(near_product(192, 128)).repo_key());
  EXPECT_DOUBLE_EQ(list[1].distance, 2);  // the rows of an input and of the output
}

TEST(NearStrategies, TheWinnerOfANeighbourIsTakenAndSaid) {
  const graph::Graph asked = near_product(96, 128);
  const NeighbourBank bank({{near_key(near_product(112, 128)), winner_of(asked, 50)}});
  const Compilation compiled = compile(asked, {.soc = near_soc(), .near = &bank});
  ASSERT_EQ(compiled.nodes.size(), 1U);
  EXPECT_EQ(compiled.nodes[0].near, near_key(near_product(112, 128)).repo_key());
  EXPECT_EQ(compiled.nodes[0].schedule, winner_of(asked, 50).strategies[0].schedule);
  EXPECT_FALSE(compiled.nodes[0].bank_hit);
  EXPECT_EQ(compiled.om.tuning.at("nodes").at(0).at("source"), "near");
}

TEST(NearStrategies, WhatCannotBeBuiltHereIsNotTaken) {
  const graph::Graph asked = near_product(96, 128);
  bank::StrategySet stale = winner_of(asked, 50), illegal = stale;
  ++stale.strategies[0].impl_version;
  illegal.strategies[0].schedule.begin()->second = 1'000'003;
  const NeighbourBank bank(
      {{near_key(near_product(112, 128)), stale}, {near_key(near_product(80, 128)), illegal}});
  const Compilation compiled = compile(asked, {.soc = near_soc(), .near = &bank});
  EXPECT_EQ(compiled.nodes[0].near, "");
  EXPECT_EQ(compiled.om.tuning.at("nodes").at(0).at("source"), "default");
}

TEST(NearStrategies, WhereTheEstimateKnowsOfNoScheduleNothingIsTaken) {
  const graph::Graph asked = near_softmax(96), near = near_softmax(112);
  const bank::StrategySet won = winner_of(asked, 50, false);
  ASSERT_TRUE(won.has_winner());
  const NeighbourBank bank({{near_key(near), won}});
  ASSERT_EQ(bank.near({near_key(asked)}).size(), 1U);
  const Compilation compiled = compile(asked, {.soc = near_soc(), .near = &bank});
  EXPECT_EQ(compiled.nodes[0].near, "");
  EXPECT_EQ(compiled.om.tuning.at("nodes").at(0).at("source"), "default");
}

}  // namespace
}  // namespace aoe::compiler
