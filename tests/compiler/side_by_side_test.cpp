// Nodes marked to run side by side, through lowering, memory plan and executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "graph/passes.h"
#include "graph/rewrite_plan.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/model_text.h"
#include "tests/graph/random_blocks.h"

namespace aoe::compiler {
namespace {

/// An Inception module.
graph::Graph module() {
  return tests::import_text(R"(g (float[1,16,9,9] x) => (float[1,56,9,9] y)
      <float[16,16,1,1] w1, float[8,16,1,1] r3, float[16,8,3,3] w3, float[8,16,1,1] r5,
       float[8,8,5,5] w5, float[16,16,1,1] wp> {
    i = Relu (x)
    a = Conv (i, w1)
    b0 = Conv (i, r3)
    b = Conv <pads = [1,1,1,1]> (b0, w3)
    c0 = Conv (i, r5)
    c = Conv <pads = [2,2,2,2]> (c0, w5)
    d0 = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (i)
    d = Conv (d0, wp)
    y = Concat <axis = 1> (a, b, c, d)
  })");
}

void mark(graph::Graph& graph, const std::vector<std::string>& values, int id, bool is_one_list) {
  for (graph::Node& node : graph.nodes)
    if (std::ranges::find(values, graph.values[node.outputs[0]].name) != values.end())
      node.group = {id, is_one_list};
}

/// Generated code for all nodes, in one Format where there is such.
std::map<std::string, Candidate> generated(const graph::Graph& graph, const Soc& soc,
                                           const std::string& format) {
  std::map<std::string, Candidate> fixed;
  for (const graph::NodeId id : graph.topological_order())
    for (const Candidate& candidate : default_candidates(task_of(graph, id), soc)) {
      const std::string_view impl = candidate.impl->name();
      if (candidate.format.name == format && impl != "reference" && !impl.starts_with("onednn"))
        fixed.emplace(graph.nodes[id].name, candidate);
    }
  return fixed;
}

TEST(SideBySide, BranchesOfAModuleComputeTheSame) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Graph plain = module();
  for (const std::string format : {"NC1HWC0", "NHWC"}) {
    for (const int threads : {1, 2, 4}) {
      for (const bool is_one_list : {false, true}) {
        graph::Graph graph = plain;
        mark(graph, {"a", "b0", "c0", "d0"}, 1, is_one_list);
        mark(graph, {"b", "c", "d"}, 2, is_one_list);
        CompileOptions options = options_for(soc, threads);
        options.fixed = generated(graph, soc, format);
        const runtime::Om om = expect_compiled_like_reference(graph, options, plain);
        ASSERT_EQ(om.groups.size(), 2u) << steps_text(om);
        EXPECT_EQ(om.groups[0].steps.size(), 4u);
        EXPECT_EQ(om.groups[1].steps.size(), 3u);
        for (const runtime::OmGroup& group : om.groups)
          EXPECT_EQ(group.share,
                    is_one_list ? runtime::GroupShare::kCutList : runtime::GroupShare::kCutEach);
      }
    }
  }
}

TEST(SideBySide, StepsThatCannotJoinRunBeforeTheOthers) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Graph plain = module();
  graph::Graph graph = plain;
  mark(graph, {"a", "b0", "c0", "d0"}, 1, true);
  CompileOptions options = options_for(soc, 2);
  options.fixed = generated(graph, soc, "NCHW");
  for (const auto& [name, candidate] : generated(graph, soc, "NC1HWC0"))
    options.fixed.insert_or_assign(name, candidate);
  const Impl* reference = impls().find("reference");
  for (const graph::NodeId id : graph.topological_order()) {
    const std::string& value = graph.values[graph.nodes[id].outputs[0]].name;
    if (value != "b0" && value != "d0") continue;
    options.fixed.insert_or_assign(
        graph.nodes[id].name,
        Candidate{reference, reference->formats(task_of(graph, id), soc).front(), {}});
  }
  const runtime::Om om = expect_compiled_like_reference(graph, options, plain);
  ASSERT_EQ(om.groups.size(), 1u) << steps_text(om);
  EXPECT_EQ(om.groups[0].steps.size(), 2u);
}

TEST(SideBySide, AResidualThatANeighbourReadsIsNotOverwritten) {
  const Soc soc = loopnest::test_socs().back();
  // Without the mark, y may take the place of r: u has read it before.
  const graph::Graph plain = tests::import_text(R"(g (float[1,16,6,6] x) =>
      (float[1,16,6,6] u, float[1,16,6,6] z) <float[16,16,3,3] w, float[16,16,1,1] v> {
    r = Relu (x)
    s = Sigmoid (x)
    u = Conv <pads = [1,1,1,1]> (r, w)
    m = Conv (s, v)
    y = Add (m, r)
    z = Neg (y)
  })");
  graph::Graph graph = plain;
  graph::run_passes(graph, {});
  for (graph::Node& node : graph.nodes)
    if (node.op.type == "Conv2D") node.group = {1, true};
  for (const int threads : {1, 2, 4}) {
    CompileOptions options = options_for(soc, threads);
    options.fixed = generated(graph, soc, "NC1HWC0");
    const runtime::Om om = expect_compiled_like_reference(graph, options, plain);
    EXPECT_EQ(om.groups.size(), 1u) << steps_text(om) << graph.to_text();
  }
}

TEST(SideBySide, RandomMarksChangeNothing) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Rewrite* kind = graph::rewrites().find("run_side_by_side");
  std::size_t groups = 0;
  for (std::uint32_t seed = 1; seed <= 24; ++seed) {
    std::mt19937 random(seed);
    graph::Graph graph = tests::random_blocks(seed, 3);
    graph::run_passes(graph, {});
    const graph::Graph plain = graph;
    if (seed % 4 == 0)  // mostly what cannot be had
      for (graph::Node& node : graph.nodes) node.group = {static_cast<int>(random() % 3), true};
    for (const graph::Place& place : kind->find(graph))
      if (random() % 2 == 0)  // refused where a node is in a group already
        (void)kind->apply(graph, place.nodes, place.choices[random() % place.choices.size()]);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph.to_text());
    const int threads[] = {1, 2, 4};
    const runtime::Om om =
        expect_compiled_like_reference(graph, options_for(soc, threads[seed % 3]), plain);
    if (testing::Test::HasFatalFailure()) return;
    groups += om.groups.size();
  }
  EXPECT_GT(groups, 8u);
}

}  // namespace
}  // namespace aoe::compiler
