// Quantised networks of the generator, small, in both forms that ONNX has: through all passes, compiled and run, beside the
// reference; and beside the float32 network that they were made of.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>

#include "graph/passes.h"
#include "graph/precision.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"
#include "tools/make_model/models.h"
#include "tools/make_model/quantize.h"

namespace aoe::compiler {
namespace {

using quantize::QuantForm;

struct QuantCase {
  const char* model;
  QuantForm form;
  const char* quantised_op;  ///< what its products become
  double most_error;         ///< against float32, of the range
};

std::string form_name(QuantForm form) {
  return form == QuantForm::kQdq ? "qdq" : "qlinear";
}

void PrintTo(const QuantCase& c, std::ostream* out) {
  *out << c.model << " " << form_name(c.form);
}

// Random weights, few channels and many layers: no network that anybody would quantise loses as much.
const QuantCase kQuantCases[] = {
    {"resnet50", QuantForm::kQdq, "jit:QuantConv2D", 0.1},
    {"resnet50", QuantForm::kQLinear, "jit:QuantConv2D", 0.1},
    {"mobilenetv2", QuantForm::kQdq, "jit:QuantConv2D", 0.15},
    {"bert-base", QuantForm::kQdq, "jit:QuantMatMul", 0.25},
    {"bert-base", QuantForm::kQLinear, "jit:QuantMatMul", 0.25},
};

std::string float_bytes(const std::string& name) {
  const auto model = std::ranges::find(make_model::models(), name, &make_model::Model::name);
  make_model::OnnxWriter writer(name, {.opset = model->opset, .seed = 3});
  model->write(writer, {.seed = 3, .image = 32, .sequence = 5, .is_small = true});
  return writer.serialize();
}

double largest_difference(const Constant& exact, const Constant& other) {
  const std::int64_t count = element_count(exact.desc().shape);
  const auto *a = exact.view().as<float>(), *b = other.view().as<float>();
  const auto [low, high] = std::minmax_element(a, a + count);
  double worst = 0;
  for (std::int64_t i = 0; i < count; ++i)
    worst = std::max(worst, static_cast<double>(std::abs(a[i] - b[i])));
  return worst / static_cast<double>(*high - *low);
}

class QuantModels : public testing::TestWithParam<QuantCase> {};

TEST_P(QuantModels, RunLikeTheReferenceAndNearlyLikeFloat32) {
  const QuantCase& c = GetParam();
  const std::string real = float_bytes(c.model);
  const tests::TempDir directory;
  const graph::Graph before = tests::import_bytes(
      make_model::quantized(real, c.form, 1, (directory / "float32.onnx").string()));
  graph::Graph after = before;
  graph::run_passes(after, {});
  const Soc soc = loopnest::quantised_test_socs().back();
  const runtime::Om om = expect_compiled_like_reference(after, options_for(soc, 2));
  EXPECT_NE(steps_text(om).find(c.quantised_op), std::string::npos) << steps_text(om);
  EXPECT_EQ(steps_text(om).find("QLinear"), std::string::npos) << steps_text(om);

  EXPECT_TRUE(graph::has_byte_products(after));
  graph::Graph unfused = before;
  graph::run_passes(unfused, {.disabled = {graph::kBytePass}, .dump_dir = {}});
  EXPECT_FALSE(graph::has_byte_products(unfused)) << "not in float32";

  const auto inputs = tests::random_inputs(before, 1);
  const auto exact = tests::interpret(tests::import_bytes(real), inputs);
  const auto fused = tests::interpret(after, inputs);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = largest_difference(*exact[i], *fused[i]);
    EXPECT_GT(error, 0) << "nothing was quantised";
    EXPECT_LT(error, c.most_error);
  }
}

INSTANTIATE_TEST_SUITE_P(Quantised, QuantModels, testing::ValuesIn(kQuantCases),
                         [](const auto& tested) {
                           std::string name = tested.param.model;
                           std::ranges::replace(name, '-', '_');
                           return name + "_" + form_name(tested.param.form);
                         });

}  // namespace
}  // namespace aoe::compiler
