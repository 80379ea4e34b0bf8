// Rewrite space_to_depth: what becomes of windows and pads, and which convolutions it leaves alone.
#include <gtest/gtest.h>

#include "graph/passes.h"
#include "graph/subgraphs/rewrite_plan.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::tests {
namespace {

using graph::Graph;
using Ints = std::vector<std::int64_t>;

struct Stem {
  std::string x, y, w, attributes;
};

Graph stem(const Stem& s) {
  Graph graph = import_text("g (float[" + s.x + "] x) => (float[" + s.y + "] y) <float[" + s.w +
                            "] w> {\n  c = Conv <" + s.attributes + "> (x, w)\n  y = Relu (c)\n}");
  graph::run_passes(graph, {});
  return graph;
}

const graph::Rewrite& rewrite() {
  return *graph::rewrites().find("space_to_depth");
}

TEST(SpaceToDepth, TurnsStridesIntoChannels) {
  struct Case {
    Stem before;
    Shape blocks;
    Ints kernel, pads;
  };
  const Case cases[] = {
      // ResNet's stem, TensorFlow's pads for it, AlexNet's stem, pads that differ by axis, pads by name.
      {{"1,3,16,12", "1,5,8,6", "5,3,7,7", "strides = [2,2], pads = [3,3,3,3]"},
       {1, 12, 8, 6},
       {4, 4},
       {2, 2, 1, 1}},
      {{"2,3,8,8", "2,5,4,4", "5,3,7,7", "strides = [2,2], pads = [2,2,3,3]"},
       {2, 12, 4, 4},
       {4, 4},
       {1, 1, 2, 2}},
      {{"1,3,32,28", "1,5,6,5", "5,3,11,11", "strides = [4,4]"},
       {1, 48, 8, 7},
       {3, 3},
       {0, 0, 0, 0}},
      {{"1,1,12,18", "1,5,4,5", "5,1,7,7", "strides = [3,3], pads = [1,0,4,1]"},
       {1, 9, 4, 6},
       {3, 3},
       {1, 0, 1, 1}},
      {{"1,3,16,16", "1,5,8,8", "5,3,7,7", "strides = [2,2], auto_pad = \"SAME_UPPER\""},
       {1, 12, 8, 8},
       {4, 4},
       {1, 1, 2, 2}},
  };
  for (const Case& c : cases) {
    const Graph before = stem(c.before);
    Graph after = before;
    const auto places = rewrite().find(after);
    ASSERT_EQ(places.size(), 1u) << c.before.w;
    const auto done = rewrite().apply(after, places[0].nodes, {});
    ASSERT_TRUE(done) << done.error();
    SCOPED_TRACE(after.to_text());
    after.compact();
    ASSERT_EQ(after.nodes.size(), 2u);
    const graph::Node& convolution = after.nodes[after.topological_order()[1]];
    EXPECT_EQ(after.values[convolution.inputs[0]].desc.shape, c.blocks);
    EXPECT_EQ(reference::anchor(convolution.op).attrs.get_ints("kernel_shape"), c.kernel);
    EXPECT_EQ(reference::anchor(convolution.op).attrs.get_ints("pads"), c.pads);
    EXPECT_EQ(reference::anchor(convolution.op).attrs.get_ints("strides"), (Ints{1, 1}));
    expect_same_outputs(before, after, 11);
    EXPECT_TRUE(rewrite().find(after).empty());
  }
}

TEST(SpaceToDepth, LeavesOthersAlone) {
  const Stem cases[] = {
      {"1,3,15,16", "1,5,8,8", "5,3,7,7", "strides = [2,2], pads = [3,3,3,3]"},  // no whole blocks
      {"1,3,16,16", "1,5,8,8", "5,3,3,3", "strides = [2,2], pads = [1,1,1,1]"},  // 2 taps
      {"1,3,16,16", "1,5,8,8", "5,3,11,11", "strides = [2,2], pads = [5,5,5,5]"},  // 6 taps
      {"1,3,16,16", "1,5,8,16", "5,3,7,7", "strides = [2,1], pads = [3,3,3,3]"},   // no squares
      {"1,3,16,16", "1,5,16,16", "5,3,7,7", "pads = [3,3,3,3]"},                   // no stride
      {"1,5,16,16", "1,5,8,8", "5,5,7,7", "strides = [2,2], pads = [3,3,3,3]"},    // many channels
      {"1,4,16,16", "1,6,8,8", "6,2,7,7", "strides = [2,2], pads = [3,3,3,3], group = 2"},
      {"1,3,16,16", "1,5,8,8", "5,3,5,5", "strides = [2,2], pads = [4,4,4,4], dilations = [2,2]"},
  };
  for (const Stem& c : cases) {
    Graph graph = stem(c);
    const std::string text = graph.to_text();
    EXPECT_TRUE(rewrite().find(graph).empty()) << text;
    EXPECT_FALSE(rewrite().apply(graph, {0}, {})) << text;
    EXPECT_EQ(graph.to_text(), text);
  }
}

}  // namespace
}  // namespace aoe::tests
