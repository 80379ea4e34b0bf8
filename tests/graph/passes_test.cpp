// The list of passes and who runs it. What each pass does: simplify_, expand_, fusion_ and quantised_passes_test.cpp.
#include "graph/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/file.h"
#include "graph/verify.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"

namespace aoe::tests {
namespace {

using graph::Graph;
using graph::Pass;

TEST(Passes, AreTheseInThisOrder) {
  std::vector<std::string> names;
  for (const Pass& pass : graph::passes()) names.push_back(pass.name);
  EXPECT_EQ(names, (std::vector<std::string>{"expand_einsum",
                                             "fold_constants",
                                             "settle_reshapes",
                                             "widen_floats",
                                             "expand_composites",
                                             "expand_fourier",
                                             "expand_places",
                                             "fuse_dynamic_quantized",
                                             "move_zero_points",
                                             "expand_qlinear",
                                             "pack_weights",
                                             "raise_quantize",
                                             "fuse_quantized",
                                             "drop_saturated_clips",
                                             "sink_dequantize",
                                             "fold_dequantized",
                                             "eliminate_dead_code",
                                             "remove_identities",
                                             "forward_slices",
                                             "unflatten_gemm",
                                             "split_variadic",
                                             "eliminate_common_subexpressions",
                                             "fold_pad",
                                             "fold_batch_norm",
                                             "multiply_places",
                                             "put_channels_last",
                                             "fuse_open_activations",
                                             "fuse_open_attention",
                                             "map_slices",
                                             "fuse_layer_norm",
                                             "fuse_attention",
                                             "use_global_pooling",
                                             "reduce_windows",
                                             "fold_channel_scale",
                                             "move_relus",
                                             "convolve_transposed",
                                             "group_byte_chains",
                                             "fuse_epilogues",
                                             "widen_sequences",
                                             "fuse_elementwise"}));
}

TEST(Passes, AreAllListed) {
  std::vector<std::string> names;
  for (const Pass& pass : graph::passes()) names.push_back(pass.name);
  const auto folder = std::filesystem::path(AOE_TEST_DIR) / "../../graph/passes";
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".cpp") continue;
    ++files;
    EXPECT_NE(std::ranges::find(names, file.path().stem().string()), names.end())
        << file.path() << " never runs: order.inc does not list it";
  }
  EXPECT_GT(files, 0);
}

TEST(Passes, ConvolutionsOverOneAxisTakeTheirStepsAsImages) {
  for (const char* step : {"Relu (c)", "Sigmoid (c)", "Add (c, r)", "Mul (c, r)"}) {
    Graph graph = import_text(std::string(R"(g (float[1,4,9] x, float[1,3,7] r) => (float[1,3,7] y)
         <float[3,4,3] w> {
        c = Conv (x, w)
        y = )") + step + "}");
    graph::run_passes(graph, {});
    const auto is_convolution = [](const graph::Node& node) {
      return !node.is_dead && reference::anchor(node.op).type == "Conv2D";
    };
    const auto found = std::ranges::find_if(graph.nodes, is_convolution);
    ASSERT_NE(found, graph.nodes.end()) << step;
    EXPECT_EQ(graph.values[found->inputs[0]].desc.shape.size(), 4u) << step;
    EXPECT_TRUE(found->op.body != nullptr) << step << " stays alone";
  }
}

TEST(Passes, KeepOriginsInOrder) {
  Graph graph = import_text(
      R"(g (float[1,2,4,4] x) => (float[1,3,4,4] y)
         <float[3,2,1,1] w, float[3] s, float[3] b, float[3] m, float[3] v> {
        c = Conv (x, w)
        n = BatchNormalization (c, s, b, m, v)
        y = Relu (n)
      })");
  graph::run_passes(graph, {});
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].name, "Conv_0");
  EXPECT_EQ(graph.nodes[0].origins,
            (std::vector<std::string>{"Conv_0", "BatchNormalization_0", "Relu_0"}));
}

// The channels are known, whatever the image is.
TEST(Passes, FoldIntoConvolutionsOverOpenImages) {
  Graph graph = import_text(
      R"(g (float[1,2,H,W] x) => (float[1,3,H,W] y)
         <float[3,2,1,1] w, float[3] s, float[3] b, float[3] m, float[3] v> {
        c = Conv (x, w)
        y = BatchNormalization (c, s, b, m, v)
      })",
      13, {.input_shapes = {{"x", {1, 2, kUnknownDim, kUnknownDim}}}});
  graph::run_passes(graph, {});
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op.type, "Conv2D");
}

TEST(Passes, FuseActivationsIntoConvolutionsOverOpenImages) {
  Graph graph = import_text(
      R"(g (float[1,2,H,W] x) => (float[1,3,H,W] y)
         <float[3,2,1,1] w, float[3] s, float[3] b, float[3] m, float[3] v, float[3,3,1,1] u, float low> {
        c = Conv (x, w)
        n = BatchNormalization (c, s, b, m, v)
        r = Relu (n)
        d = Conv (r, u)
        y = Clip (d, low)
      })",
      13, {.input_shapes = {{"x", {1, 2, kUnknownDim, kUnknownDim}}}});
  graph::run_passes(graph, {});
  ASSERT_EQ(graph.nodes.size(), 2u);
  for (const graph::Node& node : graph.nodes) {
    ASSERT_NE(node.op.body, nullptr);
    EXPECT_EQ(node.op.body->steps.size(), 2u);
    EXPECT_EQ(node.op.body->steps[0].call.type, "Conv2D");
  }
}

// A depthwise one, too, which was one of float32 between conversions.
TEST(Passes, MakeBytesOfConvolutionsOfBytesOverOpenImages) {
  Graph graph = import_text(
      R"(g (uint8[1,4,H,W] x) => (uint8[1,4,H,W] y)
         <float s = {0.02}, float t = {0.1}, uint8 z = {3}, int8[4,1,1,1] u = {1, -2, 3, 90},
          int8[4,4,1,1] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -16}, int8 zero = {0}> {
        d = DequantizeLinear (x, s, z)
        v = DequantizeLinear (u, t, zero)
        c = Conv <group = 4> (d, v)
        e = QuantizeLinear (c, t, z)
        f = DequantizeLinear (e, t, z)
        k = DequantizeLinear (w, s, zero)
        g = Conv (f, k)
        r = Relu (g)
        y = QuantizeLinear (r, s, z)
      })",
      13, {.input_shapes = {{"x", {1, 4, kUnknownDim, kUnknownDim}}}});
  graph::run_passes(graph, {});
  ASSERT_EQ(graph.nodes.size(), 2u);
  for (const graph::Node& node : graph.nodes) {
    ASSERT_NE(node.op.body, nullptr);
    EXPECT_EQ(node.op.body->steps.front().call.type, "QuantConv2D");
    EXPECT_EQ(node.op.body->steps.back().call.type, "Quantize");
  }
}

// Its parts compare places as float32, of which one is as large as the next behind 2^24, and have a list of all.
TEST(Passes, AHardmaxAlongAVeryLongAxisStaysWhole) {
  Graph graph = import_text(
      "g (float[1,1099511627776] x) => (float[1,1099511627776] y) { y = Hardmax <axis = 1> (x) }");
  graph::run_passes(graph, {});
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op.type, "HardMax");
}

TEST(Passes, AnIndexOutsideIsNoPartOfAnAttention) {
  for (const char* const outside : {"3", "-4"}) {
    Graph graph = import_text(R"(g (float[2,5,24] x) => (float[2,2,5,4] y) {
       parts = Constant <value = int64[5] {2, 5, 3, 2, 4}> ()
       outside = Constant <value = int64 {)" +
                              std::string(outside) + R"(}> ()
       two = Constant <value = int64 {2}> ()
       r = Reshape (x, parts)
       t = Transpose <perm = [2,0,3,1,4]> (r)
       k = Gather (t, outside)
       v = Gather (t, two)
       kt = Transpose <perm = [0,1,3,2]> (k)
       a = MatMul (v, kt)
       s = Softmax (a)
       y = MatMul (s, v)
     })");
    graph::run_passes(graph, {});  // verified behind each
    const std::string text = graph.to_text();
    EXPECT_NE(text.find("GatherV2("), std::string::npos) << text;
  }
}

TEST(RunPasses, HonoursOffSwitches) {
  const char* const model =
      "g (float[2,4] x) => (float[2,8] y) <float[4,8] w> { a = MatMul (x, w) y = Relu (a) }";
  Graph graph = import_text(model);
  const auto results = graph::run_passes(graph, {.disabled = {"fuse_epilogues"}});
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(std::ranges::find(results, "fuse_epilogues", &graph::PassResult::name), results.end());
}

TEST(RunPasses, DumpsTheGraphBehindEachPass) {
  const TempDir directory;
  Graph graph = import_text("g (float[2] x) => (float[2] y) { a = Neg (x) y = Relu (a) }");
  const auto results = graph::run_passes(graph, {.dump_dir = directory.path().string()});
  EXPECT_EQ(
      read_file(directory / (std::to_string(graph::passes().size()) + "_fuse_elementwise.txt"),
                ExitCode::kData),
      graph.to_text());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}),
            std::ssize(results));
}

TEST(Verify, NamesThePassThatBrokeTheGraph) {
  Graph graph = import_text("g (float[2] x) => (float[2] y) { a = Neg (x) y = Relu (a) }");
  graph.values[graph.nodes[0].outputs[0]].desc.shape = {3};
  try {
    graph::verify(graph, "pass spoil");
    FAIL() << "a wrong shape goes unnoticed";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("behind pass spoil: a is float32 3"),
              std::string::npos)
        << error.what();
  }
}

/// A run says so; the passes must not write the wrong shape down.
TEST(Passes, LeaveAReshapeWhoseDeclaredShapeDoesNotFit) {
  Graph graph =
      import_text("g (float[4,2] x, int64[2] shape) => (float[4,1] y) { y = Reshape (x, shape) }");
  EXPECT_NO_THROW(graph::run_passes(graph, {}));
  EXPECT_EQ(graph.nodes[graph.values[graph.outputs[0]].producer].inputs.size(), 2u);
  EXPECT_FALSE(
      graph.values[graph.nodes[graph.values[graph.outputs[0]].producer].inputs[1]].constant);
}

}  // namespace
}  // namespace aoe::tests
