// slice_batches: which rows of ops on a batch are cut, into how many parts, and that they compute the same.
#include "graph/subgraphs/batch_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/rewrite.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tests/graph/random_blocks.h"

namespace aoe::tests {
namespace {

using graph::Graph;

/// Whether anything was cut for caches of which a part may fill `bytes`.
bool slice(Graph& graph, std::int64_t bytes) {
  return graph::slice_batches_pass({.l3_bytes = 4 * bytes}).run(graph);
}

std::ptrdiff_t count(const Graph& graph, std::string_view type) {
  return std::ranges::count_if(graph.topological_order(), [&](graph::NodeId id) {
    return graph::is_type(graph.nodes[id], type);
  });
}

/// Eight images of 4x16x16, 4 KiB each, through two convolutions with few weights and one with as many as images.
Graph three_convolutions() {
  return import_text(R"(g (float[8,4,16,16] x) => (float[8,64,8,8] y)
      <float[4,4,1,1] w0, float[4,4,3,3] w1, float[64,4,9,9] w2> {
    a = Conv (x, w0)
    b = Conv <pads = [1,1,1,1]> (a, w1)
    y = Conv (b, w2)
  })");
}

TEST(SliceBatches, LeavesWhatFits) {
  Graph graph = three_convolutions();
  EXPECT_FALSE(slice(graph, 2 * 8 * 4096));
  EXPECT_EQ(count(graph, "Conv2D"), 3);
}

TEST(SliceBatches, CutsIntoAsFewPartsAsFitAndLeavesOutWhatReadsManyWeights) {
  for (const auto& [bytes, parts] : {std::pair{8192, 8}, {16384, 4}, {32767, 4}, {32768, 2}}) {
    Graph graph = three_convolutions();
    const Graph before = graph;
    ASSERT_TRUE(slice(graph, bytes));
    EXPECT_EQ(count(graph, "Conv2D"), 2 * parts + 1) << bytes;
    expect_same_outputs(before, graph, 1);
  }
}

TEST(SliceBatches, TakesSingleImagesWhereNotEvenTheseFit) {
  Graph graph = three_convolutions();
  ASSERT_TRUE(slice(graph, 100));
  EXPECT_EQ(count(graph, "Conv2D"), 2 * 8 + 1);
}

TEST(SliceBatches, LeavesOneImageAndOneOp) {
  Graph image = import_text(R"(g (float[1,4,16,16] x) => (float[1,4,16,16] y) <float[4,4,1,1] w> {
    a = Conv (x, w)
    y = Conv (a, w)
  })");
  EXPECT_FALSE(slice(image, 100));
  Graph op = import_text(R"(g (float[8,4,16,16] x) => (float[8,4,16,16] y) <float[4,4,1,1] w> {
    y = Conv (x, w)
  })");
  EXPECT_FALSE(slice(op, 100));
}

TEST(SliceBatches, KeepsTheMeaningOfRandomGraphs) {
  int cut = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    Graph graph = random_blocks(seed, 2 + static_cast<int>(seed % 4));
    if (seed % 2 == 0) graph::run_passes(graph, {});
    const Graph before = graph;
    if (!slice(graph, 512)) continue;
    ++cut;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + before.to_text());
    expect_same_outputs(before, graph, seed);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(cut, 20);
}

}  // namespace
}  // namespace aoe::tests
