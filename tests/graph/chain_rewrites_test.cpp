// fuse_chain, alone and behind other rewrites: where they apply, where they refuse, and what is left of the graph.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/passes.h"
#include "graph/subgraphs/rewrite_plan.h"
#include "graph/verify.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::tests {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Place;

Graph imported(const std::string& text) {
  Graph graph = import_text(text);
  graph::run_passes(graph, {});
  return graph;
}

const graph::Rewrite& kind(const std::string& name) {
  return *graph::rewrites().find(name);
}

/// The place with the most nodes.
Place largest_place(const graph::Rewrite& rewrite, const Graph& graph) {
  const auto places = rewrite.find(graph);
  if (places.empty()) return {};
  return *std::ranges::max_element(places, {}, [](const Place& each) { return each.nodes.size(); });
}

std::vector<std::string> live_types(const Graph& graph) {
  std::vector<std::string> types;
  for (const NodeId id : graph.topological_order())
    types.push_back(reference::type_name(graph.nodes[id].op));
  return types;
}

constexpr const char* kResidual = R"(g (float[1,8,9,7] x) => (float[1,8,9,7] y)
    <float[24,8,1,1] w1, float[24] b1, float[24,1,3,3] w2, float[8,24,1,1] w3> {
  zero = Constant <value = float {0}> ()
  six = Constant <value = float {6}> ()
  a = Conv (x, w1, b1)
  b = Clip (a, zero, six)
  c = Conv <group = 24, pads = [1,1,1,1]> (b, w2)
  d = Relu (c)
  e = Conv (d, w3)
  y = Add (e, x)
})";

TEST(FuseChain, MakesOneNodeOfAnInvertedResidual) {
  const Graph before = imported(kResidual);
  const Place place = largest_place(kind("fuse_chain"), before);
  ASSERT_EQ(place.nodes.size(), 3u);
  Graph after = before;
  ASSERT_TRUE(kind("fuse_chain").apply(after, place.nodes, {}));
  after.compact();
  graph::verify(after, "fuse_chain");
  ASSERT_EQ(live_types(after), std::vector<std::string>{"FusedChain"});
  const graph::Node& chain = after.nodes[after.topological_order()[0]];
  EXPECT_EQ(reference::op_types(chain.op),
            (std::vector<std::string>{"Conv2D", "ClipByValue", "Conv2D", "Relu", "Conv2D", "Add"}));
  EXPECT_EQ(std::ranges::count(chain.inputs, after.inputs[0]), 1);  // read twice, named once
  EXPECT_EQ(chain.origins.size(), 6u);
  expect_same_outputs(before, after, 1);
}

TEST(FuseChain, RefusesWhatOthersNeed) {
  // The value between the two is given out; read by a third node; read twice by the second.
  for (const char* text :
       {R"(g (float[1,4,6,6] x) => (float[1,4,6,6] a, float[1,4,6,6] y) <float[4,4,1,1] w> {
          a = Conv (x, w)
          y = Conv (a, w)
        })",
        R"(g (float[1,4,6,6] x) => (float[1,4,6,6] y, float[1,4,6,6] z) <float[4,4,1,1] w> {
          a = Conv (x, w)
          y = Conv (a, w)
          z = Sigmoid (a)
        })",
        R"(g (float[1,4,6,6] x) => (float[1,4,6,6] y) <float[4,4,1,1] w> {
          a = Conv (x, w)
          b = Conv (a, w)
          y = Add (b, a)
        })"}) {
    Graph graph = imported(text);
    EXPECT_TRUE(kind("fuse_chain").find(graph).empty()) << text;
    const std::string as_it_was = graph.to_text();
    EXPECT_FALSE(kind("fuse_chain").apply(graph, {0, 1}, {}));
    EXPECT_EQ(graph.to_text(), as_it_was);
  }
}

TEST(FuseChain, LooksForLargeImagesOnly) {
  const auto share = [](int size, const graph::Hardware& hardware = {}) {
    const std::string dims = std::to_string(size) + "," + std::to_string(size);
    const Graph graph = imported("g (float[1,16," + dims + "] x) => (float[1,16," + dims + R"(] y)
        <float[16,1,3,3] w1, float[16,16,1,1] w2> {
      a = Conv <group = 16, pads = [1,1,1,1]> (x, w1)
      y = Conv (a, w2)
    })");
    return kind("fuse_chain").find(graph, hardware).at(0).expected_share;
  };
  EXPECT_EQ(share(8), 0);
  EXPECT_GT(share(64), 0.05);
  EXPECT_EQ(share(64, {.l2_bytes = 64 << 20}), 0) << "stays in a cache that is large enough";
}

TEST(ComposedRewrite, ChainsABlockAcrossItsShuffle) {
  const Graph before = imported(R"(g (float[1,8,5,5] x) => (float[1,6,5,5] y)
      <float[12,4,1,1] w1, float[12,1,3,3] w2, float[12] b2, float[6,4,1,1] w3> {
    split = Constant <value = int64[5] {1, 3, 4, 5, 5}> ()
    joined = Constant <value = int64[4] {1, 12, 5, 5}> ()
    a = Conv <group = 2> (x, w1)
    b = Relu (a)
    c = Reshape (b, split)
    d = Transpose <perm = [0,2,1,3,4]> (c)
    e = Reshape (d, joined)
    f = Conv <group = 12, pads = [1,1,1,1]> (e, w2, b2)
    y = Conv <group = 3> (f, w3)
  })");
  const graph::Rewrite& both = kind("absorb_channel_shuffle+fuse_chain");
  const auto places = both.find(before);
  ASSERT_EQ(places.size(), 2u);  // with the convolution before the shuffle, and without
  for (const Place& place : places) {
    Graph after = before;
    ASSERT_TRUE(both.apply(after, place.nodes, place.choices.front()));
    after.compact();
    graph::verify(after, both.kind);
    EXPECT_EQ(live_types(after), place.nodes.size() == 6
                                     ? std::vector<std::string>{"FusedChain"}
                                     : (std::vector<std::string>{"Conv2D", "FusedChain"}));
    expect_same_outputs(before, after, 1);
  }
  const std::vector<NodeId>& nodes = places[0].nodes;
  for (const graph::RewriteParams& params :
       {graph::RewriteParams{}, {{"first", 0}}, {{"first", 4}}, {{"first", 100}}}) {
    Graph graph = before;
    EXPECT_FALSE(both.apply(graph, nodes, params));
    EXPECT_FALSE(both.apply(graph, {0, 1}, params));
    EXPECT_FALSE(both.apply(graph, {nodes[0], nodes[0], nodes[1], nodes[2], nodes[3]}, params));
    EXPECT_EQ(graph.to_text(), before.to_text());
  }
}

TEST(ComposedRewrite, ChainsAStemWithItsPoolingBehindSpaceToDepth) {
  const Graph before = imported(R"(g (float[1,3,32,32] x) => (float[1,8,7,7] y) <float[8,3,7,7] w> {
    a = Conv <strides = [2,2], pads = [3,3,3,3]> (x, w)
    b = Relu (a)
    y = MaxPool <kernel_shape = [3,3], strides = [2,2]> (b)
  })");
  const graph::Rewrite& both = kind("space_to_depth+fuse_chain");
  const auto places = both.find(before);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].nodes.size(), 2u);
  EXPECT_EQ(places[0].choices.size(), 3u) << "as many as fuse_chain has";
  for (const graph::RewriteParams& params : places[0].choices) {
    Graph after = before;
    ASSERT_TRUE(both.apply(after, places[0].nodes, params));
    after.compact();
    graph::verify(after, both.kind);
    EXPECT_EQ(live_types(after), (std::vector<std::string>{"SpaceToDepth", "FusedChain"}));
    expect_same_outputs(before, after, 1);
  }
}

}  // namespace
}  // namespace aoe::tests
