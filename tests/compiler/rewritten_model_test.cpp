// Rewritten graphs through the real kernels: a sample of random blocks, compiled as heuristics have
// it, against what the reference says of the graph before.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json_text.h"
#include "compiler/lowering/graph_strategies.h"
#include "graph/passes.h"
#include "graph/subgraph.h"
#include "runtime/backend.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/model_text.h"
#include "tests/graph/random_blocks.h"

namespace aoe::compiler {
namespace {

/// Places of this kind, one after the other, until there are no more or the most was done.
int apply_all(graph::Graph& graph, const graph::Rewrite& rewrite, int most) {
  int done = 0;
  for (bool goes_on = true; goes_on && done < most;) {
    goes_on = false;
    for (const graph::Place& place : rewrite.find(graph)) {
      if (!rewrite.apply(graph, place.nodes, place.choices.front())) continue;
      ++done;
      goes_on = true;
      break;
    }
  }
  return done;
}

TEST(RewrittenModels, ComputeWhatTheyDidBefore) {
  for (const graph::Rewrite& rewrite : graph::rewrites().all()) {
    int graphs = 0;
    for (std::uint32_t seed = 1; graphs < 4 && seed < 200; ++seed) {
      graph::Graph before = tests::random_blocks(seed, 3);
      graph::run_passes(before, {});
      graph::Graph after = before;
      if (apply_all(after, rewrite, 2) == 0) continue;
      after.compact();
      ++graphs;
      SCOPED_TRACE(rewrite.kind + ", seed " + std::to_string(seed) + "\n" + after.to_text());
      const Soc soc = loopnest::test_socs().back();
      expect_compiled_like_reference(after, options_for(soc, 2), before);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(graphs, 4) << rewrite.kind;
  }
}

/// A bank that knows one subgraph by its description.
class OneSubgraph final : public bank::StrategySource {
 public:
  OneSubgraph(std::string description, std::string plan, std::string verdict)
      : description_(std::move(description)) {
    bank::Strategy strategy{.rewrite = std::move(plan)};
    strategy.measured = {.time_ns = 100, .default_time_ns = 300, .verdict = std::move(verdict)};
    set_.strategies = {strategy};
  }
  std::optional<bank::StrategySet> find(const bank::TaskKey& key) const override {
    return key.description == description_ ? std::optional(set_) : std::nullopt;
  }
  std::string description() const override { return "one subgraph"; }

 private:
  std::string description_;
  bank::StrategySet set_;
};

/// Two branches of one block between nodes that differ.
graph::Graph block_behind(const std::string& first) {
  return tests::import_text("g (float[1,8,5,5] x) => (float[1,4,5,5] y) " + std::string(R"(
      <float[16,8,1,1] w1, float[16,8,1,1] w2, float[4,32,1,1] w3> {
    a = )") + first + R"( (x)
    b = Conv (a, w1)
    c = Conv (a, w2)
    d = Concat <axis = 1> (b, c)
    y = Conv (d, w3)
  })");
}

TEST(GraphStrategies, AreAppliedToAnyModelThatHoldsTheSubgraph) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Graph source = block_behind("Relu");
  // The two convolutions and what joins them: nodes 1, 2 and 3.
  const graph::CanonicalForm form =
      graph::canonical_form(source, graph::subgraph_of(source, {1, 2, 3}));
  graph::PlanStep step{.kind = "fuse_parallel_convolutions", .version = 1};
  for (std::size_t i = 0; i < form.order.size(); ++i)
    if (reference::anchor(source.nodes[form.order[i]].op).type == "Conv2D")
      step.nodes.push_back(static_cast<int>(i));
  const std::string plan = json_text(graph::to_json(graph::RewritePlan{{step}}));

  const OneSubgraph bank(form.description, plan, "faster");
  graph::Graph other = block_behind("Sigmoid");
  const graph::Graph meaning = other;
  const auto applied = apply_graph_strategies(other, bank, soc);
  ASSERT_EQ(applied.size(), 1u);
  EXPECT_EQ(applied[0].repo_key, subgraph_key(form, soc).repo_key());
  EXPECT_EQ(applied[0].gain_ns, 200);
  CompileOptions options = options_for(soc);
  options.subgraphs = applied;
  const Compilation compiled = compile(other, options);
  EXPECT_EQ(compiled.om.tuning.at("subgraphs").size(), 1u);
  expect_compiled_like_reference(other, options, meaning);

  // What did not win, what cannot be read and what is of another version changes nothing.
  for (const OneSubgraph& useless :
       {OneSubgraph(form.description, plan, "same"), OneSubgraph(form.description, "{}", "faster"),
        OneSubgraph(form.description,
                    R"({"schema":1,"steps":[{"kind":"gone","version":1,)"
                    R"("nodes":[0],"params":{}}]})",
                    "faster")}) {
    graph::Graph same = meaning;
    EXPECT_TRUE(apply_graph_strategies(same, useless, soc).empty());
    EXPECT_EQ(same.to_text(), meaning.to_text());
  }
}

/// The block in a branch that only a run can choose.
TEST(GraphStrategies, AreAppliedToBodiesToo) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Graph source = block_behind("Relu");
  const graph::CanonicalForm form =
      graph::canonical_form(source, graph::subgraph_of(source, {1, 2, 3}));
  graph::PlanStep step{.kind = "fuse_parallel_convolutions", .version = 1};
  for (std::size_t i = 0; i < form.order.size(); ++i)
    if (reference::anchor(source.nodes[form.order[i]].op).type == "Conv2D")
      step.nodes.push_back(static_cast<int>(i));
  const OneSubgraph bank(form.description, json_text(graph::to_json(graph::RewritePlan{{step}})),
                         "faster");
  graph::Graph graph = tests::import_text(R"(
      g (bool flag, float[1,8,5,5] x) => (float[1,4,5,5] y)
      <float[16,8,1,1] w1, float[16,8,1,1] w2, float[4,32,1,1] w3, float[4,8,1,1] w4> {
    y = If (flag) <
      then_branch = t () => (float[1,4,5,5] r) {
        a = Sigmoid (x)
        b = Conv (a, w1)
        c = Conv (a, w2)
        d = Concat <axis = 1> (b, c)
        r = Conv (d, w3)
      },
      else_branch = e () => (float[1,4,5,5] q) { q = Conv (x, w4) }>
  })");
  const graph::Graph shared = graph;  // has the same bodies
  const std::string before = shared.nodes[0].bodies[0]->to_text();
  const auto applied = apply_graph_strategies(graph, bank, soc);
  ASSERT_EQ(applied.size(), 1u);
  EXPECT_EQ(applied[0].repo_key, subgraph_key(form, soc).repo_key());
  EXPECT_NE(graph.nodes[0].bodies[0]->to_text(), before);
  EXPECT_EQ(shared.nodes[0].bodies[0]->to_text(), before);
  EXPECT_EQ(graph.nodes[0].bodies[1], shared.nodes[0].bodies[1]);
}

TEST(GraphStrategies, KeepAFormatInAnyModelThatHoldsTheSubgraph) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Graph source = block_behind("Relu");
  const graph::CanonicalForm form =
      graph::canonical_form(source, graph::subgraph_of(source, {1, 2, 3}));
  for (const Format format : {Format::kNHWC, Format::kNC1HWC0}) {
    const graph::PlanStep step{.kind = "keep_format",
                               .version = 1,
                               .nodes = {0, 1, 2},
                               .params = {{"format", static_cast<std::int64_t>(format)}}};
    const OneSubgraph bank(form.description, json_text(graph::to_json(graph::RewritePlan{{step}})),
                           "faster");
    graph::Graph other = block_behind("Sigmoid");
    const graph::Graph meaning = other;
    ASSERT_EQ(apply_graph_strategies(other, bank, soc).size(), 1u);
    EXPECT_EQ(other.nodes.size(), meaning.nodes.size());
    const runtime::Om om = expect_compiled_like_reference(other, options_for(soc), meaning);
    for (const char* value : {"b", "c", "d"})
      EXPECT_EQ(tensor(om, value + (":" + std::string(name(format)))).desc.format, format);
  }
}

/// The rewrite applied to its only place.
graph::Graph with_products_joined(graph::Graph graph) {
  const graph::Rewrite* rewrite = graph::rewrites().find("fuse_parallel_products");
  const auto places = rewrite->find(graph);
  EXPECT_EQ(places.size(), 1u);
  const auto done = rewrite->apply(graph, places.front().nodes, {});
  EXPECT_TRUE(done) << done.error();
  graph.compact();
  return graph;
}

TEST(RewrittenModels, AttentionReadsJoinedProjectionsWhereTheyAre) {
  graph::Graph before = tests::import_text(R"(g (float[2,5,8] x) => (float[2,5,12] y)
      <float[8,12] wq, float[8,12] wk, float[8,12] wv, float[12] bq, float[12] bk, float[12] bv> {
    heads = Constant <value = int64[4] {2, 5, 3, 4}> ()
    flat = Constant <value = int64[3] {2, 5, 12}> ()
    half = Constant <value = float {0.5}> ()
    q0 = MatMul (x, wq)
    q1 = Add (q0, bq)
    q2 = Reshape (q1, heads)
    q = Transpose <perm = [0,2,1,3]> (q2)
    k0 = MatMul (x, wk)
    k1 = Add (k0, bk)
    k2 = Reshape (k1, heads)
    k = Transpose <perm = [0,2,3,1]> (k2)
    v0 = MatMul (x, wv)
    v1 = Add (v0, bv)
    v2 = Reshape (v1, heads)
    v = Transpose <perm = [0,2,1,3]> (v2)
    a = MatMul (q, k)
    b = Mul (a, half)
    s = Softmax (b)
    o = MatMul (s, v)
    t = Transpose <perm = [0,2,1,3]> (o)
    y = Reshape (t, flat)
  })");
  graph::run_passes(before, {});
  const graph::Graph after = with_products_joined(before);
  const runtime::Om om =
      expect_compiled_like_reference(after, options_for(loopnest::test_socs().back(), 2), before);
  std::string types;
  for (const runtime::OmStep& step : om.steps)
    if (step.backend->traits().runs) types += step.op_types.front() + " ";
  EXPECT_EQ(types, "MatMulV2 FlashAttentionScore ");
}

/// Impls of the om's nodes, in order.
std::vector<std::string> impls_in(const runtime::Om& om) {
  std::vector<std::string> names;
  for (const auto& node : om.tuning.at("nodes")) names.push_back(node.at("impl"));
  return names;
}

TEST(RewrittenModels, LargeProductsMultiplyByStrassensAlgorithm) {
  graph::Graph before = tests::import_text(R"(g (float[2,64,512] x, float[1,256,14,14] i)
        => (float[2,64,512] a, float[2,64,768] b, float[1,512,14,14] c)
      <float[512,512] v, float[512,768] w, float[768] bias, float[512,256,1,1] k> {
    a = MatMul (x, v)
    d = MatMul (x, w)
    e = Add (d, bias)
    b = Relu (e)
    c = Conv (i, k)
  })");
  graph::run_passes(before, {});
  graph::Graph after = before;
  EXPECT_EQ(apply_all(after, *graph::rewrites().find("strassen"), 5), 3);
  const Soc soc = loopnest::test_socs().back();
  auto impls = impls_in(expect_compiled_like_reference(after, options_for(soc, 2), before));
  EXPECT_EQ(std::ranges::count(impls, "gemm_strassen"), 2);
  EXPECT_EQ(std::ranges::count(impls, "conv_strassen"), 1);
}

TEST(RewrittenModels, JoinedProductsMultiplyByStrassensAlgorithm) {
  graph::Graph before = tests::import_text(R"(g (float[2,40,256] x)
        => (float[2,40,192] a, float[2,40,320] b)
      <float[256,192] v, float[256,320] w> {
    a = MatMul (x, v)
    b = MatMul (x, w)
  })");
  graph::run_passes(before, {});
  graph::Graph after = before;
  const graph::Rewrite* rewrite = graph::rewrites().find("fuse_parallel_products");
  const auto places = rewrite->find(after);
  ASSERT_EQ(places.size(), 1u);
  ASSERT_EQ(places[0].choices.size(), 2u) << "as it is, and by Strassen's algorithm";
  const auto done = rewrite->apply(after, places[0].nodes, places[0].choices[1]);
  ASSERT_TRUE(done) << done.error();
  after.compact();
  const Soc soc = loopnest::test_socs().back();
  const auto impls = impls_in(expect_compiled_like_reference(after, options_for(soc, 2), before));
  EXPECT_EQ(std::ranges::count(impls, "gemm_strassen"), 1);
}

TEST(RewrittenModels, PartsOfOneRowAreSplitInPlace) {
  const graph::Graph before = tests::import_text(R"(
      g (float[1,24] x) => (float[1,7] y, float[1,4] z)
      <float[24,7] w1, float[24,4] w2> {
    a = MatMul (x, w1)
    b = MatMul (x, w2)
    y = Softmax (a)
    z = Sigmoid (b)
  })");
  const runtime::Om om = expect_compiled_like_reference(
      with_products_joined(before), options_for(loopnest::test_socs().back()), before);
  int splits = 0, copies = 0;
  for (const runtime::OmStep& step : om.steps)
    if (step.op_types.front() == "SplitV") ++(!step.backend->traits().runs ? splits : copies);
  EXPECT_EQ(splits, 1);
  EXPECT_EQ(copies, 0);
}

}  // namespace
}  // namespace aoe::compiler
