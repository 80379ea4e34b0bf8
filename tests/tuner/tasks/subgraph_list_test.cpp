// Which subgraphs of a model are tuned.
#include "tuner/tasks/subgraph_list.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/passes.h"
#include "tests/graph/model_text.h"
#include "tests/tuner/fakes.h"

namespace aoe::tuner {
namespace {

/// A fork and its join between rows of convolutions: several ways to cut it.
graph::Graph forked_model() {
  return aoe::tests::import_text(R"(
    g (float[1,16,96,96] x) => (float[1,16,96,96] y)
      <float[64,16,1,1] w1, float[64,1,3,3] w2, float[32,64,1,1] w3, float[32,64,1,1] w4,
       float[64,1,3,3] w5, float[16,64,1,1] w6> {
        a = Conv (x, w1)
        b = Conv <group = 64, pads = [1,1,1,1]> (a, w2)
        c = Conv (b, w3)
        d = Conv (b, w4)
        e = Concat <axis = 1> (c, d)
        f = Conv <group = 64, pads = [1,1,1,1]> (e, w5)
        y = Conv (f, w6)
      })");
}

TEST(SubgraphList, CutsTheModelAlikeWhateverItsTimes) {
  const graph::Graph graph = forked_model();
  const auto cut = [&](const std::vector<double>& node_ns) {
    std::vector<std::string> keys;
    for (const SubgraphTask& task :
         collect_subgraphs(graph, tests::fake_soc(), {graph, node_ns, tests::fake_soc()}))
      keys.push_back(task.key.description);
    return keys;
  };
  const std::size_t nodes = graph.nodes.size();
  const auto keys = cut(std::vector<double>(nodes, 1e5));
  EXPECT_FALSE(keys.empty());
  EXPECT_EQ(cut(std::vector<double>(nodes, 1.0)), keys);
  std::vector<double> one_is_slow(nodes, 10);
  for (std::size_t i = 0; i < nodes; ++i)
    if (graph.nodes[i].op.type == "ConcatV2") one_is_slow[i] = 1e9;
  EXPECT_EQ(cut(one_is_slow), keys);
}

TEST(SubgraphList, WeighsTasksByMeasuredTimes) {
  double sum_ns = 0;
  const graph::Graph graph = forked_model();
  for (const SubgraphTask& task : collect_subgraphs(
           graph, tests::fake_soc(),
           {graph, std::vector<double>(graph.nodes.size(), 7.0), tests::fake_soc()})) {
    EXPECT_EQ(task.model_ns, 7.0 * static_cast<double>(task.instances[0].form.order.size()));
    sum_ns += task.model_ns;
  }
  EXPECT_GT(sum_ns, 0);
}

/// A depthwise and a pointwise convolution, in front of a loop, in it, and in a branch that is in it.
graph::Graph looped_model() {
  graph::Graph graph = aoe::tests::import_text(R"(
    g (int64 n, bool c, float[1,32,80,80] x) => (float[1,32,80,80] z)
      <float[32,1,3,3] w1, float[32,32,1,1] v1, float[32,1,3,3] w2, float[32,32,1,1] v2,
       float[32,1,3,3] w3, float[32,32,1,1] v3, int64 two = {2}> {
        a = Conv <group = 32, pads = [1,1,1,1]> (x, w1)
        t = Conv (a, v1)
        z = Loop (n, c, t) <body = b (int64 i, bool go, float[1,32,80,80] s)
            => (bool on, float[1,32,80,80] u) {
          on = Identity (go)
          h = Conv <group = 32, pads = [1,1,1,1]> (s, w2)
          m = Conv (h, v2)
          is_late = Less (two, i)
          u = If (is_late) <
            then_branch = l () => (float[1,32,80,80] p) {
              k = Conv <group = 32, pads = [1,1,1,1]> (m, w3)
              p = Conv (k, v3) },
            else_branch = e () => (float[1,32,80,80] q) { q = Softmax (m) }>
        }>
      })");
  graph::run_passes(graph, {});
  return graph;
}

TEST(SubgraphList, HasTheSubgraphsOfBodies) {
  constexpr double kNs = 1e6;
  const graph::Graph graph = looped_model();
  const compiler::Soc soc = tests::fake_soc();
  const NodeTimes times(graph, std::vector<double>(graph.nodes.size(), kNs), soc);
  const auto tasks = collect_subgraphs(graph, soc, times);
  ASSERT_EQ(tasks.size(), 1U) << "equal blocks are one task, wherever they stand";
  const SubgraphTask& task = tasks.front();
  ASSERT_EQ(task.places(), 3);
  std::set<std::string> places;
  for (const compiler::SubgraphInstance& each : task.instances) {
    EXPECT_EQ(each.form.order.size(), 2U);
    places.insert(graph::text_of(graph, each.in));
  }
  const auto control =
      std::ranges::find(graph.nodes, "Loop", [](const graph::Node& node) { return node.op.type; });
  const std::string loop = control->name + "/";
  EXPECT_EQ(places.size(), 3U);
  EXPECT_TRUE(places.contains("") && places.contains(loop));
  EXPECT_EQ(places.rbegin()->rfind(loop, 0), 0U) << *places.rbegin();
  EXPECT_EQ(task.controls(),
            (std::set<graph::NodeId>{static_cast<graph::NodeId>(control - graph.nodes.begin())}));
  EXPECT_FALSE(task.first_node().starts_with(loop)) << "the one in front of the loop is the first";
  EXPECT_GT(task.model_ns, 2 * kNs) << "the two in front, and a share of the loop";
  EXPECT_LT(task.model_ns, 3 * kNs);
}

TEST(NodeTimes, ShareWhatALoopTakesAmongTheNodesOfItsBodies) {
  const graph::Graph graph = looped_model();
  const NodeTimes times(graph, std::vector<double>(graph.nodes.size(), 8.0), tests::fake_soc());
  double sum_ns = 0;
  std::size_t bodies = 0;
  graph::for_each_graph(graph, [&](const graph::Graph& each, const graph::BodyPath& path) {
    if (path.empty()) return;
    ++bodies;
    for (const graph::NodeId id : each.topological_order()) sum_ns += times.ns(path, id);
  });
  EXPECT_EQ(bodies, 3U);
  EXPECT_NEAR(sum_ns, 8, 1e-9);
  EXPECT_EQ(times.ns({}, 0), 8);
}

}  // namespace
}  // namespace aoe::tuner
