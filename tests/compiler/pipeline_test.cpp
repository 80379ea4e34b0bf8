// The one way from a model to an om: whatever a model comes from, and what lower precision is measured on.
#include "compiler/pipeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "compiler/lowering/gear_split.h"
#include "graph/passes.h"
#include "graph/precision.h"
#include "runtime/executor.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"

namespace aoe::compiler {
namespace {

constexpr const char* kOneProduct =
    "g (float[4,16] x) => (float[4,8] y) <float[16,8] w> { a = MatMul (x, w) y = Relu (a) }";

Preparation on_this_machine() {
  return {.soc = detect_soc(1)};
}

bool is_rounded(const graph::Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const graph::Node& node) {
    return !node.is_dead && graph::rounds_to_float16(node.op);
  });
}

TEST(Pipeline, TakesModelsFromFilesMemoryAndGraphs) {
  const tests::TempDir directory;
  const auto bytes = std::make_shared<const std::string>(tests::model_bytes(kOneProduct));
  write_file_atomically(directory / "m.onnx", *bytes);
  const auto text = [](const ModelSource& source) {
    return prepare(source, on_this_machine()).graph.to_text();
  };
  const std::string expected = text({.path = directory / "m.onnx"});
  EXPECT_NE(expected.find("MatMulV2"), std::string::npos) << expected;
  EXPECT_EQ(text({.path = "m.onnx", .bytes = bytes}), expected);
  const auto graph =
      std::make_shared<const graph::Graph>(graph::import_onnx(directory / "m.onnx", {}));
  EXPECT_EQ(text({.path = "m.onnx", .graph = graph}), expected);
}

TEST(Pipeline, NamesTheModelInMemoryThatIsNone) {
  const auto bytes = std::make_shared<const std::string>("no model at all");
  try {
    prepare({.path = "from_memory", .bytes = bytes}, on_this_machine());
    FAIL() << "bytes of no model are taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kModel);
    EXPECT_NE(std::string(error.what()).find("from_memory"), std::string::npos) << error.what();
  }
}

TEST(Pipeline, MakesOneOmOfSeveralGears) {
  const auto bytes = std::make_shared<const std::string>(tests::model_bytes(
      "g (float[N,16] x) => (float[N,8] y) <float[16,8] w> { y = MatMul (x, w) }"));
  const PreparedModel model =
      prepare({.path = "m",
               .bytes = bytes,
               .gears = graph::parse_gears(GearKind::kBatch, "1,4", "x:-1,16")},
              on_this_machine());
  EXPECT_EQ(model.gears.values.size(), 2U);
  EXPECT_EQ(model.graph.inputs.size(), 2U);
  EXPECT_FALSE(om_model(compile(model, {.soc = detect_soc(1)}).om, model.gears).oms.empty());
}

std::string text_of(const std::string& model, const ModelSource& asked = {}) {
  ModelSource source = asked;
  source.path = "m";
  source.bytes = std::make_shared<const std::string>(tests::model_bytes(model));
  return prepare(source, on_this_machine()).graph.to_text();
}

std::string stem(int image, int window, int stride) {
  return fmt::format(
      "g (float[1,3,{0},{0}] x) => (float[1,N,H,W] y) <float[64,3,{1},{1}] w> "
      "{{ c = Conv <strides = [{2},{2}]> (x, w) y = Relu (c) }}",
      image, window, stride);
}

TEST(Pipeline, FirstConvolutionsAreOverBlocksOfPixelsWhereThatTakesLess) {
  EXPECT_NE(text_of(stem(112, 8, 2)).find("SpaceToDepth"), std::string::npos);
  EXPECT_EQ(text_of(stem(112, 3, 2)).find("SpaceToDepth"), std::string::npos) << "too few taps";
  EXPECT_EQ(text_of(stem(112, 8, 2), {.disabled_passes = {"block_stems"}}).find("SpaceToDepth"),
            std::string::npos);
  const auto bytes = std::make_shared<const std::string>(tests::model_bytes(stem(112, 8, 2)));
  const graph::Graph before = graph::import_onnx(graph::OnnxBytes{*bytes, "m"}, {});
  const PreparedModel model = prepare({.path = "m", .bytes = bytes}, on_this_machine());
  expect_compiled_like_reference(model.graph, options_for(detect_soc(1)), before);
}

std::set<std::string> symbols_of(const char* model) {
  const auto bytes = std::make_shared<const std::string>(tests::model_bytes(model));
  const PreparedModel prepared = prepare({.path = "m", .bytes = bytes}, on_this_machine());
  std::set<std::string> symbols;
  for (const runtime::OmStep& step : compile(prepared, {.soc = detect_soc(1)}).om.steps)
    for (const auto& stage : step.stages) symbols.insert(stage.symbol);
  return symbols;
}

/// What tuning changes elsewhere in a model leaves the object code of a kernel to be found again.
TEST(Pipeline, NamesKernelsByTheirContent) {
  const auto alone = symbols_of(kOneProduct);
  const auto among_others = symbols_of(
      "g (float[4,16] x) => (float[4,8] y, float[16,4] z) <float[16,8] w> "
      "{ z = Transpose <perm = [1, 0]> (x) a = MatMul (x, w) y = Relu (a) }");
  EXPECT_LT(alone.size(), among_others.size());
  EXPECT_TRUE(std::ranges::includes(among_others, alone));
}

TEST(Pipeline, KeepsTheExactModelWhereItIsAskedTo) {
  const auto bytes = std::make_shared<const std::string>(tests::model_bytes(kOneProduct));
  const ModelSource source{
      .path = "m", .bytes = bytes, .precision = {.float16 = graph::Float16Rounding::kFactors}};
  Preparation how = on_this_machine();
  EXPECT_FALSE(prepare(source, how).exact);
  how.keeps_exact = true;
  const PreparedModel model = prepare(source, how);
  EXPECT_TRUE(is_rounded(model.graph));
  ASSERT_TRUE(model.exact);
  EXPECT_FALSE(is_rounded(*model.exact));
  EXPECT_FALSE(prepare(in_float32(source), how).exact);
}

TEST(Pipeline, MeasuresErrorsOnTheInputsThatAreGiven) {
  const auto bytes = std::make_shared<const std::string>(tests::model_bytes(kOneProduct));
  const ModelSource source{
      .path = "m",
      .bytes = bytes,
      .precision = {.float16 = graph::Float16Rounding::kFactors, .is_within_budget = true}};
  Preparation how = on_this_machine();
  EXPECT_TRUE(is_rounded(prepare(source, how).graph)) << "random inputs are small";

  const auto large = std::make_shared<Constant>(TensorDesc{DataType::kFloat, {4, 16}});
  std::ranges::fill_n(static_cast<float*>(large->mutable_data()), 4 * 16, 1e6F);
  how.inputs = {{"x", large}};
  EXPECT_FALSE(is_rounded(prepare(source, how).graph)) << "float16 ends at 65504";
}

/// Short rows of several inputs are moved together; float32 has not all of their bits.
TEST(Pipeline, NumbersThatFloat32DoesNotHaveAreMovedAsTheyAre) {
  for (const char* type : {"int32", "int64", "uint32", "uint64", "double"}) {
    const graph::Graph graph = tests::import_text(
        fmt::format("g ({0}[1,2,5] x) => ({0}[1,2,8] y) <{0}[1,2,3] c = "
                    "{{16777217, 123457891, 1, 2147483647, 33554433, 16777219}}> {{\n"
                    "  y = Concat <axis = 2> (c, x)\n}}",
                    type));
    for (const Soc& soc : loopnest::test_socs())
      expect_compiled_like_reference(graph, options_for(soc));
  }
}

/// What ends such a run has results like those of the other branch, here without elements.
TEST(Pipeline, ABranchThatCannotRunEndsTheRunThatGivesNothing) {
  graph::Graph graph = tests::import_text(R"(
      g (float[0,2] x, float[3] z, bool c) => (float[0,2] y) {
        y = If (c) <then_branch = h () => (p) { p = Tanh (x) },
                    else_branch = e () => (q) { q = Add (x, z) }>
      })");
  const auto inputs = tests::random_inputs(graph, 1);
  bool takes_first = false;
  const std::vector<Tensor> given = {
      inputs[0]->view(), inputs[1]->view(), {inputs[2]->desc(), &takes_first}};
  graph::run_passes(graph, {});
  const runtime::Om om = compile(graph, options_for(loopnest::test_socs().back())).om;
  runtime::Executor executor(om, {.threads = 1});
  const Constant y(executor.output(0).desc);
  std::vector<Tensor> outputs = {y.view()};
  EXPECT_THROW(executor.run(given, outputs), Error);
  takes_first = true;
  EXPECT_NO_THROW(executor.run(given, outputs));
}

}  // namespace
}  // namespace aoe::compiler
