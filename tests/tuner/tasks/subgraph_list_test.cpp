// Which subgraphs of a model are tuned.
#include "tuner/tasks/subgraph_list.h"

#include <gtest/gtest.h>

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
    for (const SubgraphTask& task : collect_subgraphs(graph, tests::fake_soc(), node_ns))
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
  for (const SubgraphTask& task :
       collect_subgraphs(graph, tests::fake_soc(), std::vector<double>(graph.nodes.size(), 7.0))) {
    EXPECT_EQ(task.model_ns, 7.0 * static_cast<double>(task.nodes[0].size()));
    sum_ns += task.model_ns;
  }
  EXPECT_GT(sum_ns, 0);
}

}  // namespace
}  // namespace aoe::tuner
