// Tensors of types narrower than a byte, and of float8: how files hold them, and what is refused. What they are worth in
// operators: tests/conformance/cases, with values from numpy.
#include "graph/import/small_types.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"

namespace aoe::graph {
namespace {

constexpr int kUint4 = 21, kInt4 = 22, kE4M3FN = 17, kE4M3FNUZ = 18, kE5M2 = 19, kE8M0 = 24;

TEST(SmallTypes, MeanWhatOnnxSays) {
  const struct {
    int type;
    unsigned code;
    double value;
  } cases[] = {{kInt4, 0x7, 7},      {kInt4, 0x8, -8},
               {kInt4, 0xf, -1},     {kUint4, 0xf, 15},
               {25, 3, 3},           {26, 2, -2},
               {kE4M3FN, 0x7e, 448}, {kE4M3FN, 0x01, 0x1p-9},
               {kE4M3FN, 0xb8, -1},  {kE4M3FNUZ, 0x7f, 240},
               {kE4M3FNUZ, 0x40, 1}, {kE5M2, 0x7b, 57344},
               {20, 0x7f, 57344},    {kE5M2, 0x01, 0x1p-16},
               {23, 0x7, 6},         {23, 0x9, -0.5},
               {kE8M0, 127, 1},      {kE8M0, 0, 0x1p-127}};
  for (const auto& each : cases)
    EXPECT_EQ(small_type(each.type)->value(each.code), each.value)
        << small_type(each.type)->name << " " << each.code;
  EXPECT_TRUE(std::isnan(small_type(kE4M3FN)->value(0xff)));
  EXPECT_TRUE(std::isnan(small_type(kE4M3FNUZ)->value(0x80)));
  EXPECT_TRUE(std::isinf(small_type(kE5M2)->value(0xfc)));
  EXPECT_TRUE(std::isnan(small_type(kE8M0)->value(255)));
  EXPECT_EQ(small_type(onnx::TensorProto::FLOAT), nullptr);
}

TEST(SmallTypes, EveryValueIsItsOwnNearest) {
  for (const int number : {17, 18, 19, 20, 23}) {
    const SmallType& type = *small_type(number);
    for (unsigned code = 0; code < 1U << type.bits; ++code) {
      const double value = type.value(code);
      if (!std::isfinite(value)) continue;
      EXPECT_EQ(type.nearest(value, true), value) << type.name << " " << code;
    }
  }
}

TEST(SmallTypes, WhatIsTooLargeSaturatesOrNot) {
  EXPECT_EQ(small_type(kE4M3FN)->nearest(464, false), 448) << "half a step above goes to the even";
  EXPECT_TRUE(std::isnan(small_type(kE4M3FN)->nearest(465, false)));
  EXPECT_EQ(small_type(kE4M3FN)->nearest(-1e9, true), -448);
  EXPECT_EQ(small_type(kE5M2)->nearest(1e9, false), INFINITY);
  EXPECT_EQ(small_type(kE5M2)->nearest(-INFINITY, true), -57344);
  EXPECT_FALSE(std::signbit(small_type(kE4M3FNUZ)->nearest(-1e-9, true)));
}

/// y = x + DequantizeLinear(w, 1), w of five elements.
onnx::ModelProto model_with(int type, const std::string& bytes) {
  onnx::ModelProto model;
  model.ParseFromString(
      tests::model_bytes("g (float[5] x) => (float[5] y) <float s = {1}> { d = DequantizeLinear "
                         "(w, s) y = Add (x, d) }",
                         21));
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(type);
  tensor.add_dims(5);
  tensor.set_raw_data(bytes);
  return model;
}

std::string import_message(const onnx::ModelProto& model, const std::string& data = "") {
  const tests::TempDir directory;
  write_file_atomically(directory / "data", data);
  write_file_atomically(directory / "m.onnx", model.SerializeAsString());
  try {
    import_onnx(directory / "m.onnx", {});
  } catch (const Error& error) {
    return error.what();
  }
  return "imports";
}

bool says(const std::string& message, const std::string& what) {
  return message.find(what) != std::string::npos;
}

TEST(SmallTypes, DamagedTensorsAreRefused) {
  EXPECT_EQ(import_message(model_with(kInt4, "abc")), "imports");
  const std::string few = import_message(model_with(kInt4, "ab"));
  EXPECT_TRUE(says(few, "tensor 'w': holds 2 bytes, int4 5 needs 3")) << few;
  EXPECT_TRUE(says(import_message(model_with(kInt4, "abcd")), "holds 4 bytes, int4 5 needs 3"));
  EXPECT_TRUE(
      says(import_message(model_with(kE5M2, "abc")), "holds 3 bytes, float8e5m2 5 needs 5"));
  EXPECT_TRUE(says(import_message(model_with(99, "abc")), "ONNX element type 99 is not supported"));
  onnx::ModelProto model = model_with(kInt4, "abc");
  onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(1);
  tensor.clear_raw_data();
  for (const int byte : {1, 2, 300}) tensor.add_int32_data(byte);
  EXPECT_TRUE(says(import_message(model), "tensor 'w': holds 300, which is no byte"));
  tensor.set_int32_data(2, 255);
  EXPECT_EQ(import_message(model), "imports");
  tensor.set_dims(0, std::int64_t{1} << 60);
  EXPECT_TRUE(says(import_message(model), "is larger than 2^48 bytes"));
}

TEST(SmallTypes, LieInExternalDataToo) {
  onnx::ModelProto model = model_with(kInt4, "abc");
  onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(1);
  tensor.clear_raw_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& place = *tensor.add_external_data();
  place.set_key("location");
  place.set_value("data");
  EXPECT_EQ(import_message(model, "abc"), "imports");
  EXPECT_TRUE(says(import_message(model, "ab"), "needs bytes 0 to 3"));
}

TEST(SmallTypes, NothingComputesWithThem) {
  onnx::ModelProto model = model_with(kInt4, "abc");
  model.mutable_graph()->mutable_node(0)->set_op_type("Add");
  EXPECT_TRUE(says(import_message(model), "(ONNX Add, opset 21: it reads int4)"));
}

TEST(SmallTypes, OfInputsAndOutputsAreWhatTheyAreHeldAs) {
  onnx::ModelProto model = model_with(kInt4, "abc");
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.mutable_node()->DeleteSubrange(1, 1);
  graph.mutable_output(0)->set_name("w");
  graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(kInt4);
  graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(kE5M2);
  const Graph imported = tests::import_bytes(model.SerializeAsString());
  EXPECT_EQ(imported.values[imported.inputs[0]].desc.dtype, DataType::kFloat);
  EXPECT_EQ(imported.values[imported.outputs[0]].desc.dtype, DataType::kInt8);
}

/// What models round by, against the table of the type's numbers: each of these, what lies half way between two, and just
/// beside that.
TEST(SmallTypes, AreRoundedToTheNearest) {
  for (const int number : {17, 18, 19, 20, 23})
    for (const bool saturate : {true, false}) {
      const SmallType& type = *small_type(number);
      std::vector<float> values = {0, 1e-30f, 1e30f, INFINITY, NAN};
      for (unsigned code = 0; code + 1 < 1U << (type.bits - 1); ++code) {
        const double low = type.value(code), high = type.value(code + 1);
        if (!std::isfinite(high)) continue;
        const auto half = static_cast<float>((low + high) / 2);
        for (const float value :
             {static_cast<float>(low), half, std::nextafter(half, 0.0f), std::nextafter(half, 1e9f),
              std::nextafter(static_cast<float>(high), 0.0f)})
          values.push_back(value);
      }
      const double most = type.nearest(1e30, true);
      for (const double factor : {1.0, 1.01, 1.03, 1.0625, 1.07, 1.125, 1.25, 1.26, 2.0})
        values.push_back(static_cast<float>(most * factor));
      for (std::size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
      const TensorDesc desc{.dtype = DataType::kFloat, .shape = {std::ssize(values)}};
      std::vector<float> results(values.size());
      const Tensor in{desc, values.data()}, out{desc, results.data()};
      reference::run(rounding_to(type, saturate), std::span(&in, 1), std::span(&out, 1));
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double expected = type.nearest(values[i], saturate);
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(results[i])) << type.name << " of " << values[i];
          continue;
        }
        EXPECT_EQ(results[i], expected) << type.name << " of " << values[i] << " " << saturate;
        EXPECT_EQ(std::signbit(results[i]), std::signbit(expected))
            << type.name << " of " << values[i];
      }
    }
}

}  // namespace
}  // namespace aoe::graph
