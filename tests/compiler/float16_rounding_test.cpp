// Precision modes of float16: what is rounded, that constants are, and that compiled models compute with float16 factors and
// float32 sums: against sums in double over _Float16, the compiler's own type.
#include "graph/analysis/float16_rounding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::compiler {
namespace {

using graph::Float16Rounding;

graph::Graph rounded(const std::string& text, Float16Rounding rounding,
                     const std::set<std::string>& float32_nodes = {},
                     std::vector<std::string>* names = nullptr) {
  graph::Graph graph = tests::import_text(text);
  graph::run_passes(graph, {.also = {graph::float16_pass(rounding, float32_nodes, names)}});
  return graph;
}

double to_float16(float x) {
  return static_cast<double>(static_cast<_Float16>(x));
}

constexpr const char* kProduct =
    "g (float[5,40] x, float[40,7] w) => (float[5,7] y) { y = MatMul (x, w) }";
constexpr const char* kTwoConvolutions =
    "g (float[1,16,9,9] x) => (float[1,16,9,9] y) <float[16,16,3,3] w, float[16] b, "
    "float[16,16,1,1] v> { c = Conv <pads = [1,1,1,1]> (x, w, b) r = Relu (c) d = Conv (r, v) y = "
    "Add (d, r) }";

TEST(Float16Rounding, MultipliesFloat16AndSumsInFloat32) {
  const graph::Graph graph = rounded(kProduct, Float16Rounding::kFactors);
  const auto inputs = tests::random_inputs(graph, 4);
  const auto outputs = tests::interpret(graph, inputs);
  const auto *x = inputs[0]->view().as<float>(), *w = inputs[1]->view().as<float>();
  const auto* y = outputs[0]->view().as<float>();
  double most_rounding = 0;
  for (int row = 0; row < 5; ++row)
    for (int column = 0; column < 7; ++column) {
      double sum = 0, exact = 0;
      for (int k = 0; k < 40; ++k) {
        sum += to_float16(x[row * 40 + k]) * to_float16(w[k * 7 + column]);
        exact += double{x[row * 40 + k]} * double{w[k * 7 + column]};
      }
      EXPECT_NEAR(y[row * 7 + column], sum, 1e-5) << row << "," << column;
      most_rounding = std::max(most_rounding, std::abs(exact - sum));
    }
  EXPECT_GT(most_rounding, 1e-4) << "nothing was rounded";
}

TEST(Float16Rounding, IsCompiledOnEverySoc) {
  for (const Soc& soc : loopnest::test_socs())
    for (const char* text : {kProduct, kTwoConvolutions})
      expect_compiled_like_reference(rounded(text, Float16Rounding::kFactors), options_for(soc, 2));
}

TEST(Float16Rounding, RoundsConstantsInPlaceAndFusesTheRest) {
  const graph::Graph graph = rounded(kTwoConvolutions, Float16Rounding::kFactors);
  for (const graph::Value& value : graph.values) {
    if (value.constant == nullptr || value.desc.shape.size() != 4) continue;
    const auto* weights = value.constant->view().as<float>();
    for (std::int64_t i = 0; i < element_count(value.desc.shape); ++i)
      ASSERT_EQ(weights[i], to_float16(weights[i])) << value.name;
  }
  // Of the input one of its own; of the first convolution's result in an elementwise op or epilogue.
  const auto alone = std::ranges::count_if(
      graph.nodes, [](const graph::Node& node) { return node.op.type == "RoundToFloat16"; });
  EXPECT_LE(alone, 2);
}

TEST(Float16Rounding, LeavesNamedProductsAlone) {
  std::vector<std::string> names;
  rounded(kTwoConvolutions, Float16Rounding::kFactors, {}, &names);
  ASSERT_EQ(names.size(), 2u);
  const graph::Graph kept =
      rounded(kTwoConvolutions, Float16Rounding::kFactors, {names.begin(), names.end()});
  EXPECT_EQ(kept.to_text(), rounded(kTwoConvolutions, Float16Rounding::kOff).to_text());
}

TEST(Float16Rounding, KeepsConstantsFinite) {
  const graph::Graph graph = rounded(
      "g (float[3] x) => (float[3] y) <float lowest = {-3.4e38}> { m = Mul (x, lowest) y = Exp (m) "
      "}",
      Float16Rounding::kValues);
  const float zeros[3] = {};
  const auto x = std::make_shared<Constant>(graph.values[graph.inputs[0]].desc, zeros);
  const auto outputs = tests::interpret(graph, {x});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(outputs[0]->view().as<float>()[i], 1) << "0 times infinity";
}

TEST(Float16Rounding, OfAllValuesGivesNothingButFloat16) {
  const graph::Graph graph = rounded(kTwoConvolutions, Float16Rounding::kValues);
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
  const auto outputs = tests::interpret(graph, tests::random_inputs(graph, 2));
  const auto* y = outputs[0]->view().as<float>();
  for (std::int64_t i = 0; i < outputs[0]->view().elements(); ++i)
    ASSERT_EQ(y[i], to_float16(y[i])) << i;
}

}  // namespace
}  // namespace aoe::compiler
