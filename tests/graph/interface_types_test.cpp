// Types of inputs and outputs as flags ask for them: what is parsed, what the graph looks like, what it computes.
#include "graph/import/interface_types.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/error.h"
#include "graph/verify.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::graph {
namespace {

constexpr const char* kTwoOutputs = R"(g (float[2,3] x) => (float[2,3] y, float[2,3] z) {
  a = Relu (x)
  y = Neg (a)
  z = Exp (y)
})";

template <typename Call>
std::string usage_error(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no Error";
  return {};
}

Graph with_types(const InterfaceTypes& types, const char* model = kTwoOutputs) {
  Graph graph = tests::import_text(model, 13, {.types = types});
  verify(graph, "the test");
  return graph;
}

const TensorDesc& output_desc(const Graph& graph, std::size_t i) {
  return graph.values[graph.outputs[i]].desc;
}

TEST(ParseOutputType, TakesOneTypeForAllOrOneForEach) {
  EXPECT_EQ(parse_output_type("FP16").outputs, DataType::kFloat16);
  EXPECT_EQ(parse_output_type("DOUBLE").outputs, DataType::kDouble);
  const InterfaceTypes types = parse_output_type("a:b:1:UINT8;c:0:FP32;");
  EXPECT_FALSE(types.outputs);
  EXPECT_EQ(types.single_outputs,
            (std::vector<OutputType>{{"a:b", 1, DataType::kUint8}, {"c", 0, DataType::kFloat}}));
}

TEST(ParseOutputType, RefusesOtherTexts) {
  for (const char* text : {"", "fp16", "FP8", "a:FP16", "a:0:", ":0:FP16", "a:x:FP16", "a:-1:FP16",
                           "a::FP16", "a:0:FP16;b", "a:0:FP16;a:0:FP32", "a:99999999999:FP16"})
    EXPECT_TRUE(usage_error([&] { parse_output_type(text); }).starts_with("--output_type: "))
        << text;
}

TEST(InterfaceTypes, OutputsKeepTheirNamesAndReadersTheirValues) {
  const Graph graph = with_types(parse_output_type("FP16"));
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
  EXPECT_EQ(output_desc(graph, 0).dtype, DataType::kFloat16);
  EXPECT_EQ(output_desc(graph, 1).dtype, DataType::kFloat16);
  // z = exp of the float32 y, not of the rounded one: both in float16 then.
  const float input[6] = {0.1f, 0.2f, 0.3f, 1, 2, 3};
  const auto x =
      std::make_shared<Constant>(TensorDesc{.dtype = DataType::kFloat, .shape = {2, 3}}, input);
  const Graph half = with_types(parse_output_type("y:0:FP16"));
  EXPECT_EQ(output_desc(half, 1).dtype, DataType::kFloat);
  const auto plain = tests::interpret(with_types({}), {x});
  const auto cast = tests::interpret(half, {x});
  EXPECT_EQ(std::memcmp(plain[1]->data(), cast[1]->data(), plain[1]->size_bytes()), 0);
}

TEST(InterfaceTypes, OutputsAreConvertedAsCastDoes) {
  const float input[6] = {-1, 0, 1.5f, 2.9f, 100, 7};
  const auto x =
      std::make_shared<Constant>(TensorDesc{.dtype = DataType::kFloat, .shape = {2, 3}}, input);
  const auto outputs = tests::interpret(with_types(parse_output_type("Neg_0:0:INT8")), {x});
  const auto* values = static_cast<const std::int8_t*>(outputs[0]->data());
  EXPECT_EQ(std::vector<int>(values, values + 6), (std::vector<int>{0, 0, -1, -2, -100, -7}));
}

TEST(InterfaceTypes, AnOutputOfItsOwnTypeStaysAsItIs) {
  EXPECT_EQ(with_types(parse_output_type("FP32")).nodes.size(), with_types({}).nodes.size());
}

TEST(InterfaceTypes, InputsBecomeFloat16) {
  const Graph graph = with_types({.fp16_inputs = {"x"}});
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "x");
  EXPECT_EQ(graph.values[graph.inputs[0]].desc.dtype, DataType::kFloat16);
  EXPECT_EQ(output_desc(graph, 0).dtype, DataType::kFloat);
}

TEST(InterfaceTypes, AnInputGivenOutDirectlyIsConvertedToo) {
  const Graph graph = with_types({.outputs = DataType::kInt32, .fp16_inputs = {"x"}},
                                 "g (float[2] x) => (float[2] y) { y = Identity (x) }");
  EXPECT_EQ(graph.values[graph.inputs[0]].desc.dtype, DataType::kFloat16);
  EXPECT_EQ(output_desc(graph, 0).dtype, DataType::kInt32);
}

TEST(InterfaceTypes, RefusesWhatIsNotThere) {
  EXPECT_EQ(usage_error([] { with_types(parse_output_type("Relu_0:0:FP16")); }),
            "--output_type: 'Relu_0:0' is no output of the model; make it one with --out_nodes");
  EXPECT_NE(
      usage_error([] { with_types(parse_output_type("y:1:FP16")); }).find("'y:1' is no output"),
      std::string::npos);
  EXPECT_EQ(usage_error([] { with_types({.fp16_inputs = {"y"}}); }),
            "--input_fp16_nodes: the model has no input 'y'");
  EXPECT_EQ(usage_error([] {
              with_types({.fp16_inputs = {"x"}}, "g (int64[2] x) => (int64[2] y) { y = Neg (x) }");
            }),
            "--input_fp16_nodes: input 'x' is int64; name inputs that are float32");
}

TEST(OutNodes, AreNodesWithAnIndexOrValues) {
  for (const char* out : {"Relu_0:0", "a"}) {
    const Graph graph = tests::import_text(kTwoOutputs, 13, {.out_nodes = {out}});
    ASSERT_EQ(graph.outputs.size(), 1u);
    EXPECT_EQ(graph.values[graph.outputs[0]].name, "a");
  }
  EXPECT_NE(usage_error([] {
              tests::import_text(kTwoOutputs, 13, {.out_nodes = {"Relu_0:0", "a"}});
            }).find("is given twice"),
            std::string::npos);
  EXPECT_NE(usage_error([] {
              tests::import_text(kTwoOutputs, 13, {.out_nodes = {"x"}});
            }).find("no node 'x'"),
            std::string::npos);
}

}  // namespace
}  // namespace aoe::graph
