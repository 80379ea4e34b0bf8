// Every kind of rewrite on random graphs: through a plan, as the bank stores it, the outputs stay
// what the reference says they were. A failure prints the seed, the plan and the graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "base/json_text.h"
#include "graph/passes.h"
#include "graph/subgraph.h"
#include "graph/subgraphs/canonical_form.h"
#include "graph/subgraphs/rewrite_plan.h"
#include "tests/graph/interpret.h"
#include "tests/graph/random_blocks.h"

namespace aoe::tests {
namespace {

using graph::CanonicalForm;
using graph::Graph;

CanonicalForm form_of(const Graph& graph) {
  return graph::canonical_form(graph, graph::subgraph_of(graph, graph.topological_order()));
}

/// A random choice of disjoint places. Kinds take turns in being asked first: those with many places would leave none to
/// the others.
graph::RewritePlan random_plan(const Graph& graph, const CanonicalForm& form,
                               std::mt19937& random) {
  std::map<graph::NodeId, int> canonical;
  for (std::size_t i = 0; i < form.order.size(); ++i)
    canonical[form.order[i]] = static_cast<int>(i);
  std::vector<graph::PlanStep> steps;
  for (const graph::Rewrite& rewrite : graph::rewrites().all()) {
    for (const graph::Place& place : rewrite.find(graph)) {
      graph::PlanStep step{
          rewrite.kind, rewrite.version, {}, place.choices[random() % place.choices.size()]};
      for (const graph::NodeId id : place.nodes) step.nodes.push_back(canonical.at(id));
      steps.push_back(std::move(step));
    }
  }
  std::ranges::shuffle(steps, random);
  const std::vector<graph::Rewrite>& kinds = graph::rewrites().all();
  const std::string& first = kinds[random() % kinds.size()].kind;
  std::ranges::stable_partition(steps,
                                [&](const graph::PlanStep& step) { return step.kind == first; });
  graph::RewritePlan plan;
  for (graph::PlanStep& step : steps) {
    plan.steps.push_back(std::move(step));
    if (!plan.is_disjoint()) plan.steps.pop_back();
  }
  return plan;
}

TEST(Rewrites, KeepTheMeaningOfRandomGraphs) {
  constexpr std::uint32_t kGraphs = 7000;
  std::map<std::string, int> applied;
  int rewritten = 0;
  for (std::uint32_t seed = 1; seed <= kGraphs; ++seed) {
    std::mt19937 random(seed);
    Graph before = random_blocks(seed, 2 + static_cast<int>(seed % 4));
    if (seed % 2 == 0) graph::run_passes(before, {});
    const CanonicalForm form = form_of(before);
    const graph::RewritePlan plan = random_plan(before, form, random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + to_text(plan) + "\n" + before.to_text());
    // The way through the bank, and onto another graph that is the same but for names and order.
    const auto stored = graph::plan_from_json(parse_cbor(cbor_bytes(graph::to_json(plan))));
    ASSERT_TRUE(stored) << stored.error();
    ASSERT_EQ(*stored, plan);
    Graph after = shuffled_and_renamed(before, seed);
    const CanonicalForm other = form_of(after);
    ASSERT_EQ(other.description, form.description);
    const Graph renamed = after;
    const auto done = graph::apply_plan(after, other.order, *stored);
    ASSERT_TRUE(done) << done.error();
    expect_same_outputs(renamed, after, seed);
    if (testing::Test::HasFatalFailure()) return;
    for (const graph::PlanStep& step : plan.steps) ++applied[step.kind];
    rewritten += plan.steps.empty() ? 0 : 1;
  }
  RecordProperty("rewritten", rewritten);
  EXPECT_GT(rewritten, 1000);
  for (const graph::Rewrite& rewrite : graph::rewrites().all()) {
    RecordProperty(rewrite.kind, applied[rewrite.kind]);
    EXPECT_GT(applied[rewrite.kind], 200) << rewrite.kind;
  }
}

TEST(Rewrites, HaveKnownNames) {
  std::vector<std::string> kinds;
  for (const graph::Rewrite& rewrite : graph::rewrites().all()) kinds.push_back(rewrite.kind);
  EXPECT_EQ(kinds,
            (std::vector<std::string>{
                "absorb_channel_shuffle", "fuse_chain", "fuse_parallel_convolutions",
                "fuse_parallel_products", "keep_format", "slice_batch", "space_to_depth",
                "strassen", "absorb_channel_shuffle+fuse_chain", "space_to_depth+fuse_chain"}));
}

TEST(RewritePlan, RefusesWhatItDoesNotKnow) {
  Graph graph = random_blocks(1, 3);
  const std::string text = graph.to_text();
  const CanonicalForm form = form_of(graph);
  const auto& kind = graph::rewrites().all().front();
  const graph::RewritePlan plans[] = {
      {{{"no_such_kind", 1, {0}, {}}}},
      {{{kind.kind, kind.version + 1, {0}, {}}}},
      {{{kind.kind, kind.version, {10000}, {}}}},
      {{{kind.kind, kind.version, {0}, {}}}},
  };
  for (const graph::RewritePlan& plan : plans) {
    const auto done = graph::apply_plan(graph, form.order, plan);
    EXPECT_FALSE(done) << to_text(plan);
    EXPECT_EQ(graph.to_text(), text);
  }
}

TEST(RewritePlan, RefusesOtherSchemas) {
  nlohmann::json json = graph::to_json(graph::RewritePlan{});
  EXPECT_TRUE(graph::plan_from_json(json));
  json["schema"] = graph::kPlanSchema + 1;
  EXPECT_FALSE(graph::plan_from_json(json));
  EXPECT_FALSE(graph::plan_from_json({{"schema", graph::kPlanSchema}, {"steps", {{{"kind", 1}}}}}));
  EXPECT_FALSE(graph::plan_from_json("text"));
}

}  // namespace
}  // namespace aoe::tests
