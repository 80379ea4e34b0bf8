// What a quantiser writes: models in text, before and after.
#include "quantize/qdq.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "base/file.h"
#include "graph/graph.h"
#include "quantize/model_file.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"

namespace aoe::quantize {
namespace {

using tests::import_bytes;
using tests::model_bytes;

constexpr std::uint32_t kSeed = 5;

onnx::ModelProto loaded(const std::string& text, int opset = 13) {
  const tests::TempDir directory;
  write_file_atomically(directory / "m.onnx", model_bytes(text, opset));
  return load_float_model(directory / "m.onnx");
}

/// Of the inputs that difference() takes.
Ranges ranges_of(const onnx::ModelProto& model) {
  onnx::ModelProto shown = model;
  std::vector<std::string> values;
  for (const std::string& value : values_to_calibrate(model.graph()))
    if (value != "x") values.push_back(value);
  if (values.empty()) return {{"x", {-2, 2}}};
  show_values(shown, values);
  const graph::Graph graph = import_bytes(shown.SerializeAsString());
  const auto found = tests::interpret(graph, tests::random_inputs(graph, kSeed));
  Ranges ranges = {{"x", {-2, 2}}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto* data = found[i]->view().as<float>();
    const auto [low, high] =
        std::minmax_element(data, data + element_count(found[i]->desc().shape));
    ranges[values[i]] = {*low, *high};
  }
  return ranges;
}

int count(const onnx::ModelProto& model, const std::string& type) {
  return static_cast<int>(
      std::ranges::count(model.graph().node(), type, &onnx::NodeProto::op_type));
}

const onnx::NodeProto& node_giving(const onnx::ModelProto& model, const std::string& value) {
  const auto found = std::ranges::find_if(
      model.graph().node(), [&](const auto& node) { return node.output(0) == value; });
  EXPECT_NE(found, model.graph().node().end()) << value;
  return *found;
}

/// Of the outputs of both on the same inputs, as a share of the range.
double difference(const std::string& exact, const std::string& other) {
  const graph::Graph a = import_bytes(exact), b = import_bytes(other);
  const auto inputs = tests::random_inputs(a, kSeed);
  const auto right = tests::interpret(a, inputs), found = tests::interpret(b, inputs);
  const auto *x = right[0]->view().as<float>(), *y = found[0]->view().as<float>();
  const std::int64_t elements = element_count(right[0]->desc().shape);
  const auto [low, high] = std::minmax_element(x, x + elements);
  double worst = 0;
  for (std::int64_t i = 0; i < elements; ++i)
    worst = std::max<double>(worst, std::abs(x[i] - y[i]) / (*high - *low));
  return worst;
}

constexpr const char* kNet = R"(g (float[1,3,8,8] x) => (float[1,5] y)
  <float[4,3,3,3] w, float[4] b, float[4,4,3,3] v, float[4,5] p> {
  c = Conv <pads = [1,1,1,1]> (x, w, b)
  r = Relu (c)
  m = MaxPool <kernel_shape = [2,2], strides = [2,2]> (r)
  d = Conv <pads = [1,1,1,1]> (m, v)
  s = Add (d, m)
  a = GlobalAveragePool (s)
  f = Flatten (a)
  y = MatMul (f, p)
})";

TEST(Qdq, ComputesWhatTheModelDid) {
  onnx::ModelProto model = loaded(kNet);
  const std::string before = model.SerializeAsString();
  write_qdq(model, ranges_of(model), {});
  EXPECT_EQ(count(model, "QuantizeLinear"), 6);  // x, r, m, d, s, f; y is given out
  EXPECT_LT(difference(before, model.SerializeAsString()), 0.05);
  for (const onnx::TensorProto& each : model.graph().initializer())
    EXPECT_TRUE(each.name() != "w" && each.name() != "b") << "is read no more: " << each.name();
}

TEST(Qdq, PooledBytesMeanTheSame) {
  onnx::ModelProto model = loaded(kNet);
  write_qdq(model, ranges_of(model), {});
  EXPECT_EQ(node_giving(model, "m_quantized").input(1), "r_scale");
  onnx::ModelProto half = loaded(kNet);  // what stands in front of the pooling stays float32
  write_qdq(half, ranges_of(half), {.float_layers = {"c"}});
  EXPECT_EQ(node_giving(half, "m_quantized").input(1), "m_scale");
}

/// A model may have any name, those among them that the writer likes best.
constexpr const char* kTakenNames = R"(g (float[1,3,8,8] x) => (float[1,4,8,8] y)
  <float[4,3,3,3] w, float[4] c_bias, float[4,4,1,1] w_quantized, float[4] x_scale> {
  c = Conv <pads = [1,1,1,1]> (x, w, c_bias)
  c_quantized = Relu (c)
  c_dequantized = Conv (c_quantized, w_quantized, x_scale)
  x_zero_point = Conv (c_quantized, w_quantized, c_bias)
  c_local = Add (c_dequantized, x_zero_point)
  y = Neg (c_local)
})";

TEST(Qdq, NamesThatTheModelHasAreItsOwn) {
  for (const QuantForm form : {QuantForm::kQdq, QuantForm::kQLinear}) {
    onnx::ModelProto model = loaded(kTakenNames);
    const std::string before = model.SerializeAsString();
    write_qdq(model, ranges_of(model), {.form = form});
    EXPECT_LT(difference(before, model.SerializeAsString()), 0.05);
  }
  onnx::ModelProto model = loaded(kTakenNames);
  const std::string before = model.SerializeAsString();
  EXPECT_EQ(add_quantised_copies(model, ranges_of(model)).at("c"), "c_local_1");
  EXPECT_EQ(difference(before, model.SerializeAsString()), 0);
}

TEST(Qdq, LayersInFloat32ReadWhatTheyRead) {
  onnx::ModelProto model = loaded(kNet);
  const onnx::NodeProto before = node_giving(model, "d");
  write_qdq(model, ranges_of(model), {.float_layers = {"d"}});
  EXPECT_EQ(node_giving(model, "d").SerializeAsString(), before.SerializeAsString());
  EXPECT_EQ(node_giving(model, "c").input(1), "w_dequantized");
  onnx::ModelProto untouched = loaded(kNet);
  const std::string all = untouched.graph().SerializeAsString();
  write_qdq(untouched, ranges_of(untouched), {.float_layers = {"c", "d", "s", "y"}});
  EXPECT_EQ(untouched.graph().SerializeAsString(), all);
}

TEST(Qdq, LayersAreThoseOfBytes) {
  std::string names;
  for (const Layer& layer : layers_of(loaded(kNet).graph()))
    names += layer.op_type + " " + layer.output + ", ";
  EXPECT_EQ(names, "Conv c, Conv d, Add s, MatMul y, ");
}

TEST(Qdq, WeightsAndBiasesThatAreShared) {
  onnx::ModelProto model = loaded(R"(g (float[1,4,8,8] x) => (float[1,4,8,8] y)
    <float[4,4,3,3] w, float[4] b> {
    c = Conv <pads = [1,1,1,1]> (x, w, b)
    r = Relu (c)
    d = Conv <pads = [1,1,1,1]> (r, w, b)
    y = Neg (d)
  })");
  const std::string before = model.SerializeAsString();
  write_qdq(model, ranges_of(model), {});  // the scales of both biases differ
  EXPECT_LT(difference(before, model.SerializeAsString()), 0.05);
}

TEST(Qdq, OldModelsHaveScalesPerChannelOfAnotherDomain) {
  for (const int opset : {9, 12, 13}) {
    onnx::ModelProto model = loaded(kNet, opset);
    const std::string before = model.SerializeAsString();
    write_qdq(model, ranges_of(model), {});
    EXPECT_EQ(node_giving(model, "x_quantized").domain(), opset < 13 ? "com.microsoft" : "");
    EXPECT_LT(difference(before, model.SerializeAsString()), 0.05) << opset;
  }
}

TEST(Qdq, WhatHasNoConstantWeightsStays) {
  const onnx::ModelProto model = loaded(R"(g (float[2,4,4] x, float[4,4] u) => (float[2,4,4] y)
    <float[2,4,4] w, float[4] b> {
    a = MatMul (x, u)
    c = MatMul (x, w)
    d = Add (a, c)
    y = Add (d, b)
  })");
  EXPECT_TRUE(layers_of(model.graph()).empty());
}

/// As exporters count places and add sizes, which nothing declares.
TEST(Qdq, SumsOfSizesAndPlacesAreNoLayers) {
  const onnx::ModelProto model = loaded(R"(g (float[1,3,8,8] x, int64[2] n) => (float[1,4,8,8] y)
    <float[4,3,3,3] w, int64 zero> {
    c = Conv <pads = [1,1,1,1]> (x, w)
    sizes = Shape (c)
    height = Gather (sizes, zero)
    both = Add (height, height)
    places = ArgMax <axis = 1> (c)
    counted = Cast <to = 7> (c)
    of_input = Add (n, n)
    later = Add (places, places)
    last = Add (counted, counted)
    is_right = Where (zero, both, both)
    sum = Add (is_right, is_right)
    back = Cast <to = 1> (last)
    y = Add (back, c)
  })");
  std::string names;
  for (const Layer& layer : layers_of(model.graph()))
    names += layer.op_type + " " + layer.output + ", ";
  EXPECT_EQ(names, "Conv c, Add y, ");
}

TEST(Qdq, GemmByRowsOrScaledKeepsItsBias) {
  for (const char* bias : {"float[3,5] b", "float[5] b", "float[1] b", "float b"})
    for (const char* attributes : {"transB = 0", "alpha = 0.5, beta = 2.0"}) {
      onnx::ModelProto model =
          loaded(std::string("g (float[3,4] x) => (float[3,5] y) <float[4,5] w, ") + bias +
                 "> { y = Gemm <" + attributes + "> (x, w, b) }");
      const std::string before = model.SerializeAsString();
      write_qdq(model, ranges_of(model), {});
      EXPECT_EQ(node_giving(model, "y").input(1), "w_dequantized");
      EXPECT_LT(difference(before, model.SerializeAsString()), 0.05) << bias << " " << attributes;
    }
}

TEST(Qdq, CopiesBesideEveryLayer) {
  onnx::ModelProto model = loaded(kNet);
  const std::string before = model.SerializeAsString();
  const std::vector<Layer> layers = layers_of(model.graph());
  const auto copies = add_quantised_copies(model, ranges_of(model));
  EXPECT_EQ(difference(before, model.SerializeAsString()), 0);
  show_values(model, {copies.at(layers[1].output)});
  onnx::ModelProto float_model = loaded(kNet);
  show_values(float_model, {"d"});
  EXPECT_LT(difference(float_model.SerializeAsString(), model.SerializeAsString()), 0.05);
}

TEST(FoldBatchNorms, KeepsTheMeaning) {
  onnx::ModelProto model = loaded(R"(g (float[1,3,8,8] x) => (float[1,4,8,8] y)
    <float[4,3,1,1] w, float[4] g1, float[4] b1, float[4] m1, float[4] v1 = {1, 2, 0.5, 3}> {
    c = Conv (x, w)
    n = BatchNormalization <epsilon = 0.01> (c, g1, b1, m1, v1)
    d = Conv (x, w)
    e = BatchNormalization (d, g1, b1, m1, v1)
    f = Add (d, e)
    y = Add (n, f)
  })");
  const std::string before = model.SerializeAsString();
  fold_batch_norms(model);
  EXPECT_EQ(count(model, "BatchNormalization"), 1);  // d has two readers
  EXPECT_LT(difference(before, model.SerializeAsString()), 1e-5);
}

TEST(FoldBatchNorms, GivesWeightsNamesThatTheModelDoesNotHave) {
  onnx::ModelProto model = loaded(R"(g (float[1,3,8,8] x) => (float[1,4,8,8] n)
    <float[4,3,1,1] w, float[4] n_folded_weight, float[4] n_folded_bias, float[4] m1, float[4] v1 = {1, 2, 0.5, 3}> {
    c = Conv (x, w)
    n = BatchNormalization (c, n_folded_weight, n_folded_bias, m1, v1)
  })");
  const std::string before = model.SerializeAsString();
  fold_batch_norms(model);
  EXPECT_EQ(count(model, "BatchNormalization"), 0);
  EXPECT_LT(difference(before, model.SerializeAsString()), 1e-5);
}

TEST(LoadFloatModel, WeightsInConstantsAndInputs) {
  onnx::ModelProto model =
      loaded(R"(g (float[3,4] x, float[4,5] w) => (float[3,5] y) <float[4,5] w> {
    p = Constant <value = float[5,5] {1,2,3,4,5,1,2,3,4,5,1,2,3,4,5,1,2,3,4,5,1,2,3,4,5}> ()
    a = MatMul (x, w)
    y = MatMul (a, p)
  })");
  EXPECT_EQ(inputs_of(model).size(), 1u);
  EXPECT_EQ(layers_of(model.graph()).size(), 2u);
}

TEST(LoadFloatModel, WeightsThatNodesCompute) {
  const std::string text = R"(g (float[1,3,8,8] x) => (float[1,5] y, int64[4] z)
    <float[108] w, int64[4] s = {4, 3, 3, 3}, float16[4] b> {
    z = Identity (s)
    wide = Reshape (w, s)
    twice = Add (wide, wide)
    scale = ConstantOfShape <value = float[1] {0.5}> (s)
    scaled = Mul (twice, scale)
    bias = Cast <to = 1> (b)
    c = Conv <pads = [1,1,1,1]> (x, scaled, bias)
    g = GlobalAveragePool (c)
    f = Flatten (g)
    p = Constant <value = float[4,5] {1,2,3,4,5,1,2,3,4,5,1,2,3,4,5,1,2,3,4,5}> ()
    y = MatMul (f, p)
  })";
  onnx::ModelProto model = loaded(text);
  EXPECT_EQ(layers_of(model.graph()).size(), 2u);
  for (const char* gone : {"Reshape", "Mul", "Add", "ConstantOfShape", "Cast", "Constant"})
    EXPECT_EQ(count(model, gone), 0) << gone;
  EXPECT_EQ(node_giving(model, "z").input(0), "s");
  EXPECT_EQ(difference(model_bytes(text, 13), model.SerializeAsString()), 0);
  write_qdq(model, ranges_of(model), {});
  EXPECT_EQ(node_giving(model, "c").input(1), "scaled_dequantized");
  EXPECT_LT(difference(model_bytes(text, 13), model.SerializeAsString()), 0.05);
}

TEST(LoadFloatModel, WhatOnlyARunKnowsIsNoWeight) {
  const onnx::ModelProto model =
      loaded(R"(g (float[3,4] x) => (float[3,5] y, float[4,2] u) <float[4,4] w> {
    r = RandomNormal <shape = [4,5]> ()
    u, v = Split <axis = 1> (w)
    a = MatMul (x, u)
    b = Concat <axis = 1> (a, a)
    y = MatMul (b, r)
  })");
  EXPECT_TRUE(layers_of(model.graph()).empty());
  EXPECT_EQ(model.graph().node_size(), 5);
}

}  // namespace
}  // namespace aoe::quantize
