// Models of float16 and bfloat16: through all passes, compiled and run, beside the reference, which computes them in their own
// types; and that nothing of them is left to the reference.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/passes.h"
#include "runtime/om/step_paths.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tools/make_model/float_type.h"
#include "tools/make_model/models.h"

namespace aoe::compiler {
namespace {

graph::Graph behind_passes(const graph::Graph& imported) {
  graph::Graph graph = imported;
  graph::run_passes(graph, {});
  return graph;
}

/// Compiles for every Soc; returns the steps for the last.
std::string check(const std::string& text, int opset = 13) {
  const graph::Graph before = tests::import_text(text, opset);
  const graph::Graph after = behind_passes(before);
  std::string steps;
  for (const Soc& soc : loopnest::test_socs())
    steps = steps_text(expect_compiled_like_reference(after, options_for(soc, 2), before));
  return steps;
}

struct Network {
  const char* name;
  DataType dtype;
};

void PrintTo(const Network& network, std::ostream* out) {
  *out << network.name << " " << name(network.dtype);
}

class ShortNetworks : public testing::TestWithParam<Network> {};

TEST_P(ShortNetworks, RunWithoutTheReferenceAndNearlyLikeIt) {
  const Network& network = GetParam();
  const auto model =
      std::ranges::find(make_model::models(), network.name, &make_model::Model::name);
  ASSERT_NE(model, make_model::models().end());
  make_model::OnnxWriter writer(model->name, {.opset = model->opset, .seed = 3});
  model->write(writer, {.seed = 3, .image = 32, .sequence = 5, .is_small = true});
  const graph::Graph before =
      tests::import_bytes(make_model::in_float_type(writer.serialize(), network.dtype));
  const runtime::Om om = expect_compiled_like_reference(
      behind_passes(before), options_for(loopnest::test_socs().back(), 2), before);
  EXPECT_EQ(runtime::reference_part({.gears = {}, .oms = {om}}), "");
  EXPECT_EQ(om.tensors[static_cast<std::size_t>(om.outputs[0])].desc.dtype, network.dtype);
}

INSTANTIATE_TEST_SUITE_P(MakeModel, ShortNetworks,
                         testing::Values(Network{"squeezenet", DataType::kFloat16},
                                         Network{"mobilenetv2", DataType::kFloat16},
                                         Network{"bert-base", DataType::kFloat16},
                                         Network{"gpt2", DataType::kFloat16},
                                         Network{"lstm-tagger", DataType::kFloat16},
                                         Network{"squeezenet", DataType::kBFloat16},
                                         Network{"bert-base", DataType::kBFloat16}),
                         [](const auto& each) {
                           std::string text = std::string(each.param.name) + "_" +
                                              std::string(name(each.param.dtype));
                           std::ranges::replace(text, '-', '_');
                           return text;
                         });

/// A Cast alone, to the type of this ONNX number.
std::string cast_model(const std::string& from, const std::string& to, int number) {
  return fmt::format("g ({} x) => ({} y) {{ y = Cast <to = {}> (x) }}", from, to, number);
}

TEST(ShortCasts, AreGeneratedForAllShapes) {
  struct Short {
    const char* type;
    int number;
  };
  for (const auto& [type, number] : {Short{"float16", 10}, Short{"bfloat16", 16}})
    for (const char* shape :
         {"", "[1]", "[3]", "[17]", "[64]", "[2,3,5]", "[1,16,7,7]", "[4,1000]"}) {
      const std::string narrow = fmt::format("{}{}", type, shape),
                        wide = fmt::format("float{}", shape);
      EXPECT_EQ(check(cast_model(wide, narrow, number)), "jit:Cast") << narrow;
      EXPECT_EQ(check(cast_model(narrow, wide, 1)), "jit:Cast") << narrow;
    }
}

TEST(ShortCasts, OfNothingGiveNothing) {
  check("g (float[3,0] x) => (float16[3,0] y) { y = Cast <to = 10> (x) }");
  check("g (float16[3,0] x) => (float16[3,0] y) { y = Neg (x) }");
}

/// Fused with what is in front.
TEST(ShortCasts, RoundLikeTheReferenceWhereThereIsLittleOrNoRoom) {
  // Subnormal numbers, of which one step is a large part of the range, and what is beyond the largest.
  for (const char* factor : {"2e-7", "3e-5", "40000", "65504"})
    EXPECT_EQ(check("g (float[5,13] x) => (float16[5,13] y) <float f = {" + std::string(factor) +
                    "}> { s = Mul (x, f) y = Cast <to = 10> (s) }"),
              "jit:Mul")
        << factor;
}

TEST(ShortCasts, OfTheModelGoOnRounding) {
  const std::string steps = check(
      "g (float[1,8,9,9] x) => (float[1,8,9,9] y, float[1,8,9,9] z) <float[8,8,1,1] w> { c = Conv "
      "(x, w) h = Cast <to = 10> (c) y = "
      "Cast <to = 1> (h) b = Cast <to = 16> (c) z = Cast <to = 1> (b) }");
  EXPECT_EQ(steps.find("reference"), std::string::npos) << steps;
}

TEST(ShortMoves, KeepTheirTypeWhereNothingElseFollows) {
  EXPECT_EQ(
      check("g (float16[2,3,4] x) => (float16[4,2,3] y) { y = Transpose <perm = [2,0,1]> (x) }"),
      "jit:Transpose");
  EXPECT_EQ(
      check("g (bfloat16[2,20] x, bfloat16[2,9] z) => (bfloat16[2,4] y) <int64[1] from = {3}, "
            "int64[1] to = {7}, int64[1] axis = {1}> "
            "{ c = Concat <axis = 1> (x, z) y = Slice (c, from, to, axis) }")
          .find("Cast"),
      std::string::npos);
}

TEST(ShortMoves, TakeFewOfManyBeforeTheseAreWidened) {
  const std::string steps = check(
      "g (float16[50,8] table, int64[3] i) => (float16[3,8] y) { r = Gather (table, i) y = Exp (r) "
      "}");
  EXPECT_TRUE(steps.starts_with("native:GatherV2")) << steps;
  EXPECT_EQ(steps.find("reference"), std::string::npos) << steps;
}

TEST(ShortCasts, BehindAConvolutionInItsOwnFormat) {
  const std::string steps = check(
      "g (float16[1,32,9,9] x) => (float16[1,32,9,9] y) <float16[32,32,3,3] w, float16[32] b> "
      "{ c = Conv <pads = [1,1,1,1]> (x, w, b) y = Relu (c) }");
  EXPECT_EQ(steps.find("reference"), std::string::npos) << steps;
}

TEST(ShortMasks, HideWhatTheyHide) {
  for (const char* lowest : {"-65504", "-inf"}) {
    graph::Graph before = tests::import_text(
        "g (float16[2,5,5] scores, float16[2,5,4] v) => (float16[2,5,4] y, float16[2,5,5] p) "
        "<float16[5,5] mask> { "
        "m = Add (scores, mask) p = Softmax <axis = -1> (m) y = MatMul (p, v) }");
    const auto mask = std::ranges::find(before.values, "mask", &graph::Value::name);
    const auto hidden = std::make_shared<Constant>(mask->desc);
    auto* to = static_cast<_Float16*>(hidden->mutable_data());
    for (int i = 0; i < 25; ++i)
      to[i] = i / 5 < i % 5 ? static_cast<_Float16>(std::stof(lowest)) : static_cast<_Float16>(0);
    mask->constant = hidden;
    const graph::Graph after = behind_passes(before);
    expect_compiled_like_reference(after, options_for(loopnest::test_socs().back(), 2), before);
    const auto outputs = tests::interpret(after, tests::random_inputs(after, 1));
    const auto* p = outputs[1]->view().as<_Float16>();
    for (int i = 0; i < 50; ++i)
      EXPECT_EQ(p[i] == static_cast<_Float16>(0), i % 25 / 5 < i % 5) << lowest << " " << i;
  }
}

}  // namespace
}  // namespace aoe::compiler
