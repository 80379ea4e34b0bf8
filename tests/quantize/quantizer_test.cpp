// Whole quantisations of small networks.
#include "quantize/quantizer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "tests/temp_dir.h"
#include "tools/make_model/models.h"
#include "tools/make_model/onnx_writer.h"

namespace aoe::quantize {
namespace {

class QuantizerTest : public testing::Test {
 protected:
  void SetUp() override { write("squeezenet"); }

  void write(const std::string& name) {
    const auto model = std::ranges::find(make_model::models(), name, &make_model::Model::name);
    make_model::OnnxWriter writer(name, {.opset = model->opset, .seed = 3});
    model->write(writer, {.seed = 3, .image = 32, .sequence = 5, .is_small = true});
    write_file_atomically(path_, writer.serialize());
  }

  Quantised run(QuantizerSettings settings, int samples = 4) {
    settings.soc = compiler::detect_soc(1);
    Quantizer quantizer(path_, std::move(settings));
    return quantizer.run(random_samples(samples, 1, quantizer.inputs()));
  }

  static std::size_t floats(const Quantised& result) {
    return static_cast<std::size_t>(std::ranges::count_if(result.layers, &LayerError::is_float));
  }

  const tests::TempDir directory_;
  const std::filesystem::path path_ = directory_ / "m.onnx";
};

TEST_F(QuantizerTest, EverythingWhereTheErrorIsKept) {
  for (const char* name : {"squeezenet", "mobilenetv2", "bert-base"}) {
    write(name);
    const Quantised result = run({.max_error = 0.5});
    EXPECT_EQ(floats(result), 0u) << name;
    EXPECT_EQ(result.calibration_samples, 3u);
    EXPECT_EQ(result.held_back_samples, 1u);
    ASSERT_FALSE(result.outputs.empty());
    EXPECT_GT(result.outputs[0].relative, 0) << name;
    EXPECT_LT(result.outputs[0].relative, 0.5) << name;
    EXPECT_TRUE(std::ranges::is_sorted(result.layers, std::greater{}, &LayerError::relative))
        << name;
  }
}

TEST_F(QuantizerTest, NoErrorLeavesNoBytes) {
  const Quantised result = run({.method = Method::kMinMax, .max_error = 0});
  EXPECT_EQ(floats(result), result.layers.size());
  EXPECT_EQ(result.outputs[0].relative, 0);
  EXPECT_EQ(result.outputs[0].same_top, 1);
}

TEST_F(QuantizerTest, TheWorstStayFloat32AsFarAsTheErrorAsks) {
  const Quantised all = run({.method = Method::kMinMax, .max_error = 10}, 1);
  const double bound = all.outputs[0].relative / 2;
  const Quantised some = run({.method = Method::kMinMax, .max_error = bound}, 1);
  EXPECT_GT(floats(some), 0u);
  EXPECT_LT(floats(some), some.layers.size());
  EXPECT_EQ(some.held_back_samples, 0u);  // stated on the sample that it was chosen by
  EXPECT_LE(some.outputs[0].relative, bound);
  EXPECT_TRUE(std::ranges::is_partitioned(some.layers, &LayerError::is_float));
}

TEST_F(QuantizerTest, LayersThatAreAskedForStayFloat32) {
  const Quantised all = run({.method = Method::kMinMax, .max_error = 10}, 1);
  const Layer& best = all.layers.back().layer;
  for (const std::string& name : {best.node, best.output}) {
    const Quantised result =
        run({.method = Method::kMinMax, .max_error = 10, .float_layers = {name}}, 1);
    EXPECT_EQ(floats(result), 1u);
    const auto found = std::ranges::find_if(result.layers, &LayerError::is_float);
    EXPECT_EQ(found->layer.output, best.output);
  }
  try {
    run({.float_layers = {"nowhere"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
  }
}

TEST_F(QuantizerTest, AutoIsNoWorseThanAnyMethodOnWhatItChoseBy) {
  const double chosen = run({.max_error = 10}, 1).outputs[0].relative;
  for (const Method method : {Method::kMinMax, Method::kPercentile, Method::kEntropy})
    EXPECT_LE(chosen, run({.method = method, .max_error = 10}, 1).outputs[0].relative * (1 + 1e-9))
        << method_name(method);
}

TEST_F(QuantizerTest, WhatCannotBeQuantisedIsSaid) {
  write("mlp-training");
  try {
    run({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kModel);
    EXPECT_NE(std::string(error.what()).find("nothing to quantise"), std::string::npos);
  }
}

}  // namespace
}  // namespace aoe::quantize
