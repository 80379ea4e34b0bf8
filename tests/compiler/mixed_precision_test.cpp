// The choice of bfloat16: as much as a limit on the error allows, nothing where the machine cannot.
#include "compiler/precision/mixed_precision.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/passes.h"
#include "graph/precision.h"
#include "tests/compiler/shape_line.h"
#include "tests/graph/model_text.h"

namespace aoe::compiler {
namespace {

graph::Graph graph_with(const std::string& text) {
  graph::Graph graph = graph_of(parse_shape_line(text).task);
  graph::run_passes(graph, {});
  return graph;
}

graph::Graph product_graph() {
  return graph_with("MatMulV2 in=64x256 in=256x128:const");
}

int lowered_nodes(const graph::Graph& graph) {
  int count = 0;
  for (const graph::Node& node : graph.nodes) count += graph::allows_bf16(node.op);
  return count;
}

CompileOptions host_options() {
  CompileOptions options;
  options.soc = detect_soc(1);
  return options;
}

TEST(MixedPrecision, IsNotChosenWithoutTheInstructions) {
  CompileOptions options = host_options();
  options.soc.features.remove(Feature::kBf16);
  graph::Graph graph = product_graph();
  const MixedPrecision choice = choose_bf16(graph, options);
  EXPECT_EQ(choice.candidates, 1);
  EXPECT_EQ(choice.lowered, 0);
  EXPECT_EQ(lowered_nodes(graph), 0);
}

TEST(MixedPrecision, KeepsToTheLimit) {
  const CompileOptions options = host_options();
  if (!options.soc.has(Feature::kBf16)) GTEST_SKIP() << "needs AVX512-BF16";
  graph::Graph wide = product_graph();
  const MixedPrecision all = choose_bf16(wide, options, {.limit = 0.1});
  EXPECT_EQ(all.lowered, 1);
  EXPECT_EQ(lowered_nodes(wide), 1);
  EXPECT_GT(all.error, 1e-5) << "rounding to 8 bits must show";
  EXPECT_LT(all.error, 1e-2);

  graph::Graph narrow = product_graph();
  const MixedPrecision none = choose_bf16(narrow, options, {.limit = 1e-6});
  EXPECT_EQ(none.lowered, 0);
  EXPECT_EQ(none.error, 0);
  EXPECT_EQ(lowered_nodes(narrow), 0);
}

TEST(MixedPrecision, LowersEqualProductsAsFarAsTheLimitAllows) {
  const CompileOptions options = host_options();
  if (!options.soc.has(Feature::kBf16)) GTEST_SKIP() << "needs AVX512-BF16";
  const auto layers = [] {
    graph::Graph graph = tests::import_text(
        "g (float[64,64] x) => (float[64,64] y) <float[64,64] a, float[64,64] b, float[64,64] c, "
        "float[64,64] d> {"
        "  p = MatMul (x, a) q = Relu (p) r = MatMul (q, b) s = Relu (r)"
        "  t = MatMul (s, c) u = Relu (t) v = MatMul (u, d) y = Relu (v) }");
    graph::run_passes(graph, {});
    return graph;
  };
  graph::Graph whole = layers();
  const MixedPrecision all = choose_bf16(whole, options, {.limit = 1});
  ASSERT_EQ(all.lowered, 4);

  graph::Graph part = layers();
  const double limit = 0.9 * all.error;
  const MixedPrecision some = choose_bf16(part, options, {.limit = limit / 0.8});
  EXPECT_GT(some.lowered, 0);
  EXPECT_LT(some.lowered, 4);
  EXPECT_LE(some.error, limit);
  const std::vector<graph::NodeId> products = graph::bf16_candidates(part);
  EXPECT_FALSE(graph::allows_bf16(part.nodes[products.front()].op));
  EXPECT_TRUE(graph::allows_bf16(part.nodes[products.back()].op));
}

TEST(MixedPrecision, MeasuresNoErrorBetweenEqualModels) {
  const CompileOptions options = host_options();
  const graph::Graph graph = product_graph();
  EXPECT_EQ(largest_error(compile(graph, options).om, compile(graph, options).om, 1), 0);
}

TEST(MixedPrecision, TasksThatMayRoundHaveKeysOfTheirOwn) {
  const Soc soc = detect_soc(1);
  graph::Graph graph = product_graph();
  const graph::NodeId product = graph::bf16_candidates(graph).at(0);
  const auto exact = key_of(task_of(graph, product), soc);
  graph::allow_bf16(*graph.edit(product));
  EXPECT_NE(key_of(task_of(graph, product), soc).description, exact.description);
}

TEST(MixedPrecision, TakesWholeConvolutionsOfEnoughRows) {
  const auto candidates = [](const std::string& text) {
    return graph::bf16_candidates(graph_with(text)).size();
  };
  EXPECT_EQ(candidates("Conv2D in=1x16x8x8 in=16x16x3x3:const"), 1u);
  EXPECT_EQ(candidates("Conv2D in=1x3x8x8 in=16x3x3x3:const"), 1u);
  EXPECT_EQ(candidates("Conv2D in=1x2x8x8 in=16x2x3x3:const"), 0u);
  EXPECT_EQ(candidates("Conv2D in=1x16x8x8 in=16x8x3x3:const group=2"), 0u);
  EXPECT_EQ(candidates("Conv2D in=1x16x5x8x8 in=16x16x3x3x3:const"), 0u);
}

TEST(MixedPrecision, ConvolutionsRunInPairs) {
  const CompileOptions options = host_options();
  if (!options.soc.has(Feature::kBf16)) GTEST_SKIP() << "needs AVX512-BF16";
  const auto expect_rounded = [&](const std::string& text) {
    graph::Graph graph = graph_with(text);
    const MixedPrecision choice = choose_bf16(graph, options, {.limit = 0.1});
    EXPECT_EQ(choice.lowered, 1) << text;
    EXPECT_GT(choice.error, 1e-5) << "rounding to 8 bits must show: " << text;
    EXPECT_LT(choice.error, 1e-2) << text;
  };
  expect_rounded("Conv2D in=1x64x28x28 in=128x64x1x1:const");
  expect_rounded("Conv2D in=1x3x96x96 in=64x3x7x7:const strides=[2,2] pads=[3,3,3,3]");
}

TEST(MixedPrecision, RefusesAModelWhoseLoopDoesNotEnd) {
  const CompileOptions options = host_options();
  if (!options.soc.has(Feature::kBf16)) GTEST_SKIP() << "needs AVX512-BF16";
  graph::Graph graph = tests::import_text(
      "g (float[4,64] x, bool go) => (float[4,32] y) <float[64,32] w> {"
      "  p = MatMul (x, w)"
      "  n = Constant <value_int = 9223372036854775807> () y = Loop (n, go, p) <body = b (int64 i, "
      "bool on, float[4,32] s) => (bool still, "
      "float[4,32] t) {"
      "    still = Or (on, on) t = Relu (s) }> }");
  graph::run_passes(graph, {});
  auto go = std::make_shared<Constant>(TensorDesc{.dtype = DataType::kBool});
  *static_cast<bool*>(go->mutable_data()) = true;
  try {
    choose_bf16(graph, options, {.inputs = {{"go", go}}, .longest_loop_s = 0.05});
    FAIL() << "it ends";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kFailure);
    const std::string what = e.what();
    EXPECT_NE(what.find("it still runs after 0.05 s"), std::string::npos) << what;
    EXPECT_NE(what.find("--precision_mode=force_fp32"), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace aoe::compiler
