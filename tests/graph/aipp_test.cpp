// AIPP as graph operators: what they compute is checked against NumPy in tests/cli/aipp_test.sh; here the graph they make.
#include "graph/import/aipp.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "graph/passes.h"
#include "graph/verify.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::graph {
namespace {

constexpr const char* kImageModel =
    R"(g (float[2,3,4,6] image, float[3] other) => (float[2,3,4,6] y) {
  y = Neg (image)
})";

Graph prepared(const std::string& config, const char* model = kImageModel) {
  Graph graph = tests::import_text(model, 13, {.aipp = parse_aipp(config, "test")});
  verify(graph, "the test");
  return graph;
}

bool has_node(const Graph& graph, const std::string& type) {
  return std::ranges::any_of(
      graph.nodes, [&](const Node& node) { return !node.is_dead && node.op.type == type; });
}

TEST(Aipp, TheInputBecomesPixelsAndKeepsItsName) {
  const Graph graph = prepared("aipp_op { aipp_mode: static input_format: RGB888_U8 }");
  const Value& input = graph.values[graph.inputs[0]];
  EXPECT_EQ(input.name, "image");
  EXPECT_EQ(to_string(input.desc), "uint8 2x4x6x3 ND");
  EXPECT_EQ(to_string(graph.values[graph.inputs[1]].desc), "float32 3 ND");
  EXPECT_EQ(to_string(graph.values[graph.outputs[0]].desc), "float32 2x3x4x6 ND");
}

TEST(Aipp, MakesNoOperatorThatNobodyAskedFor) {
  const Graph graph =
      prepared("aipp_op { aipp_mode: static input_format: RGB888_U8 csc_switch: false }");
  for (const char* type : {"Conv2D", "Sub", "Mul", "PadV3", "Slice", "Resize", "GatherV2"})
    EXPECT_FALSE(has_node(graph, type)) << type;
}

TEST(Aipp, ColoursAreConvertedAsTheFormulaSays) {
  const Graph graph = prepared(
      "aipp_op { aipp_mode: static input_format: RGB888_U8 csc_switch: true\n"
      "matrix_r0c0: 256 matrix_r0c1: 0 matrix_r0c2: 0 matrix_r1c0: -3 matrix_r1c1: 0 matrix_r1c2: "
      "0\n"
      "matrix_r2c0: 0 matrix_r2c1: 0 matrix_r2c2: 512 output_bias_0: 0 output_bias_1: 9 "
      "output_bias_2: 0 }",
      "g (float[1,3,1,1] image) => (float[1,3,1,1] y) { y = Identity (image) }");
  const std::uint8_t pixel[3] = {100, 7, 200};
  const auto input = std::make_shared<Constant>(
      TensorDesc{.dtype = DataType::kUint8, .shape = {1, 1, 1, 3}}, pixel);
  const auto outputs = tests::interpret(graph, {input});
  const auto* y = static_cast<const float*>(outputs[0]->data());
  EXPECT_EQ(y[0], 100);
  EXPECT_EQ(y[1], 7) << "-300 >> 8 is -2";
  EXPECT_EQ(y[2], 255) << "cut off";
}

TEST(Aipp, PassesKeepWhatItComputes) {
  const std::string config =
      "aipp_op { aipp_mode: static input_format: YUV420SP_U8 src_image_size_w: 12 "
      "src_image_size_h: 8\n"
      "crop: true load_start_pos_w: 2 load_start_pos_h: 2 crop_size_w: 4 crop_size_h: 2 "
      "csc_switch: true\n"
      "padding: true left_padding_size: 1 right_padding_size: 1 top_padding_size: 2 mean_chn_0: 4 "
      "var_reci_chn_1: 0.5 }";
  const Graph before = prepared(config);
  Graph after = before;
  run_passes(after, {});
  tests::expect_same_outputs(before, after, 7);
}

TEST(Aipp, ReadsCommentsQuotesAndSeveralOperators) {
  const std::vector<Aipp> ops = parse_aipp(
      "# first\naipp_op: { aipp_mode: static, input_format: \"RGB888_U8\" # pixels\n crop: 0 }\n"
      "aipp_op{aipp_mode:static input_format:YUV400_U8 related_input_rank:1 var_reci_chn_0:1e-2}",
      "test");
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].format, PixelFormat::kRgb888);
  EXPECT_EQ(ops[1].input, 1);
  EXPECT_EQ(ops[1].var_reci[0], 0.01);
  EXPECT_EQ(ops[1].var_reci[1], 1);
}

TEST(Aipp, RefusesInputsThatAreNoImages) {
  try {
    prepared("aipp_op { aipp_mode: static input_format: RGB888_U8 related_input_rank: 1 }");
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_NE(std::string(error.what()).find("input 'other' is float32 3"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace aoe::graph
