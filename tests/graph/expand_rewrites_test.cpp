// expand_attention and expand_layer_norm: what becomes of graphs as passes leave them.
// AOE_UPDATE_GOLDEN=1 in the environment rewrites the golden texts.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"
#include "graph/verify.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::tests {
namespace {

using graph::Graph;

constexpr int kOpset = 17;  ///< the first with LayerNormalization
constexpr double kTried = 0.02, kNotTried = 0;

Graph imported(const std::string& text) {
  Graph graph = import_text(text, kOpset);
  graph::run_passes(graph, {});
  return graph;
}

struct Case {
  const char* name;
  const char* kind;
  double expected_share;
  const char* model;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

const Case kCases[] = {
    {"expand_attention", "expand_attention", kNotTried,
     R"(g (float[2,5,12] q, float[2,7,12] k, float[2,7,12] v, float[2,1,1,7] mask) => (float[2,5,12] y) {
       qheads = Constant <value = int64[4] {2, 5, 3, 4}> ()
       kheads = Constant <value = int64[4] {2, 7, 3, 4}> ()
       flat = Constant <value = int64[3] {2, 5, 12}> ()
       eight = Constant <value = float {8}> ()
       qs = Reshape (q, qheads)
       qt = Transpose <perm = [0,2,1,3]> (qs)
       ks = Reshape (k, kheads)
       kt = Transpose <perm = [0,2,3,1]> (ks)
       vs = Reshape (v, kheads)
       vt = Transpose <perm = [0,2,1,3]> (vs)
       a = MatMul (qt, kt)
       b = Div (a, eight)
       c = Add (b, mask)
       s = Softmax (c)
       o = MatMul (s, vt)
       ot = Transpose <perm = [0,2,1,3]> (o)
       y = Reshape (ot, flat)
     })"},
    {"expand_attention_one_projection", "expand_attention", kNotTried,
     R"(g (float[1,5,26] x, bool[5,5] seen) => (float[1,2,5,3] y) {
       low = Constant <value = float {-1000000000000}> ()
       sizes = Constant <value = int64[3] {10, 10, 6}> ()
       heads = Constant <value = int64[4] {1, 5, 2, 5}> ()
       vheads = Constant <value = int64[4] {1, 5, 2, 3}> ()
       q, k, v = Split <axis = 2> (x, sizes)
       qs = Reshape (q, heads)
       qt = Transpose <perm = [0,2,1,3]> (qs)
       ks = Reshape (k, heads)
       kt = Transpose <perm = [0,2,3,1]> (ks)
       vs = Reshape (v, vheads)
       vt = Transpose <perm = [0,2,1,3]> (vs)
       a = MatMul (qt, kt)
       b = Where (seen, a, low)
       s = Softmax (b)
       y = MatMul (s, vt)
     })"},
    {"expand_attention_shared_keys", "expand_attention", kNotTried,
     R"(g (float[3,5,4] q, float[4,7] k, float[7,6] v) => (float[3,5,6] y) {
       a = MatMul (q, k)
       s = Softmax (a)
       y = MatMul (s, v)
     })"},
    {"expand_attention_large_scores", "expand_attention", kNotTried,
     R"(g (float[128,8] q, float[8,128] k, float[128,8] v) => (float[128,8] y) {
       a = MatMul (q, k)
       s = Softmax (a)
       y = MatMul (s, v)
     })"},
    {"expand_attention_deep_head", "expand_attention", kTried,
     R"(g (float[112,128] q, float[128,112] k, float[112,6] v) => (float[112,6] y) {
       tenth = Constant <value = float {0.1}> ()
       a = MatMul (q, k)
       b = Mul (a, tenth)
       s = Softmax (b)
       y = MatMul (s, v)
     })"},
    {"expand_layer_norm", "expand_layer_norm", kNotTried,
     R"(g (float[2,5,12] x) => (float[2,5,12] y) <float[12] scale, float[12] shift> {
       y = LayerNormalization <axis = -1, epsilon = 0.25> (x, scale, shift)
     })"},
    {"expand_layer_norm_without_parameters", "expand_layer_norm", kNotTried,
     R"(g (float[2,3,4] x) => (float[2,3,4] y) {
       small = Constant <value = float {0.01}> ()
       two = Constant <value = float {2}> ()
       m = ReduceMean <axes = [1,2]> (x)
       d = Sub (x, m)
       p = Pow (d, two)
       v = ReduceMean <axes = [1,2]> (p)
       e = Add (v, small)
       s = Sqrt (e)
       y = Div (d, s)
     })"},
    {"expand_layer_norm_of_one_row", "expand_layer_norm", kTried,
     R"(g (float[1,8,192,192] x) => (float[1,8,192,192] y) <float[192] scale> {
       y = LayerNormalization <axis = 1> (x, scale)
     })"},
};

class Expand : public testing::TestWithParam<Case> {};

TEST_P(Expand, LeavesTheGoldenTextAndKeepsTheMeaning) {
  const Case& c = GetParam();
  const Graph before = imported(c.model);
  const graph::Rewrite* rewrite = graph::rewrites().find(c.kind);
  const auto places = rewrite->find(before);
  ASSERT_EQ(places.size(), 1u) << before.to_text();
  EXPECT_EQ(places[0].expected_share, c.expected_share);
  Graph after = before;
  const auto done = rewrite->apply(after, places[0].nodes, {});
  ASSERT_TRUE(done) << done.error();
  graph::verify(after, c.kind);
  EXPECT_TRUE(rewrite->find(after).empty());
  after.compact();
  const std::filesystem::path golden =
      std::filesystem::path(AOE_TEST_DIR) / "golden" / (std::string(c.name) + ".txt");
  if (std::getenv("AOE_UPDATE_GOLDEN") != nullptr) write_file_atomically(golden, after.to_text());
  EXPECT_EQ(after.to_text(), read_file(golden, ExitCode::kData));
  expect_same_outputs(before, after, 1);
}

TEST_P(Expand, LeavesPassesNothingToFuse) {
  const Case& c = GetParam();
  Graph after = imported(c.model);
  const graph::Rewrite* rewrite = graph::rewrites().find(c.kind);
  ASSERT_TRUE(rewrite->apply(after, rewrite->find(after).at(0).nodes, {}));
  after.compact();
  for (const graph::Pass& pass : graph::passes().in_order()) {
    const bool fuses = pass.name == "fuse_epilogues" || pass.name == "fuse_elementwise";
    EXPECT_FALSE(fuses && pass.run(after)) << pass.name << "\n" << after.to_text();
  }
}

INSTANTIATE_TEST_SUITE_P(Rewrites, Expand, testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

void expect_refused(const std::string& kind, const Graph& before, const std::string& reason) {
  SCOPED_TRACE(before.to_text());
  const graph::Rewrite* rewrite = graph::rewrites().find(kind);
  EXPECT_TRUE(rewrite->find(before).empty());
  Graph after = before;
  const auto done = rewrite->apply(after, {0}, {});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().find(reason), std::string::npos) << done.error();
  EXPECT_EQ(after.to_text(), before.to_text());
}

TEST(ExpandLayerNorm, RefusesWhatItCannotWrite) {
  const std::string kind = "expand_layer_norm";
  expect_refused(kind, imported("g (float[2,6] x) => (float[2,6] y) { y = Softmax (x) }"),
                 "no layer normalisation");
  expect_refused(kind, imported(R"(g (float[2,6] x) => (float[2,6] y, float[2,1] mean)
      <float[6] scale, float[6] shift> { y, mean = LayerNormalization (x, scale, shift) })"),
                 "mean or deviation is wanted");
  expect_refused(kind, imported(R"(g (double[2,6] x, double[6] scale) => (double[2,6] y)
      { y = LayerNormalization (x, scale) })"),
                 "needs float32");
  Graph dynamic = imported(R"(g (float[2,6] x) => (float[2,6] y) <float[6] scale>
      { y = LayerNormalization (x, scale) })");
  dynamic.values[dynamic.inputs[0]].desc.shape[0] = kUnknownDim;
  expect_refused(kind, dynamic, "of known shape");
}

TEST(ExpandAttention, RefusesViewsThatOverlap) {
  Graph graph = imported(R"(g (float[5,4] q, float[4,7] k, float[7,6] v) => (float[5,6] y) {
    a = MatMul (q, k)
    s = Softmax (a)
    y = MatMul (s, v)
  })");
  graph.nodes[0].op.attrs.set("query_view", std::vector<std::int64_t>{0, 2, 1});
  expect_refused("expand_attention", graph, "input 0 is no view that nodes can copy");
}

}  // namespace
}  // namespace aoe::tests
