// What good models become.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstring>

#include "base/file.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"

namespace aoe::tests {
namespace {

using graph::Graph;

const graph::Value& value(const Graph& graph, const std::string& name) {
  for (const graph::Value& value : graph.values)
    if (value.name == name) return value;
  throw std::logic_error("no value " + name);
}

std::vector<float> floats(const Constant& constant) {
  const auto* data = static_cast<const float*>(constant.data());
  return {data, data + element_count(constant.desc().shape)};
}

TEST(Import, MakesUpUniqueNames) {
  const Graph graph = import_text("g (float[2] x) => (float[2] y) { a = Relu (x) y = Relu (a) }");
  EXPECT_EQ(graph.to_text(),
            "graph g\ninput x: float32 2\nRelu_0: Relu(x) -> a: float32 2\nRelu_1: Relu(a) -> y: "
            "float32 2\noutput y\n");
}

/// ONNX Runtime runs such models, so they are about.
TEST(Import, ContributedOperatorsNeedNoOperatorSet) {
  const onnx::ModelProto model = parsed_model(
      "g (string[2] x) => (string[2, N, M] y) {"
      "a = com.microsoft.Tokenizer <mark = 0, mincharnum = 1, pad_value = \"\", separators = "
      "[\",\"]> (x) "
      "y = com.microsoft.Tokenizer <mark = 0, mincharnum = 1, pad_value = \"\", separators = [\" "
      "\"]> (a) }");
  for (const auto& set : model.opset_import()) ASSERT_NE(set.domain(), "com.microsoft");
  EXPECT_EQ(import_bytes(model.SerializeAsString()).nodes.size(), 2u);
}

TEST(Import, InitializersOfOldModelsAreNoInputs) {
  onnx::ModelProto model =
      parsed_model("g (float[2] x, float[2] w) => (float[2] y) { y = Add (x, w) }");
  model.set_ir_version(3);
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(1);
  tensor.add_dims(2);
  tensor.add_float_data(1);
  tensor.add_float_data(2);
  const Graph graph = import_bytes(model.SerializeAsString());
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(floats(*value(graph, "w").constant), (std::vector<float>{1, 2}));
}

TEST(Import, ReadsEveryTypedField) {
  struct Case {
    onnx::TensorProto::DataType type;
    void (*fill)(onnx::TensorProto&);
    std::string bytes;
  };
  const auto from_int32 = [](onnx::TensorProto& t) {
    t.add_int32_data(1), t.add_int32_data(0x3c00);
  };
  const auto from_uint64 = [](onnx::TensorProto& t) { t.add_uint64_data(1), t.add_uint64_data(2); };
  const auto raw = [](auto a, auto b) {
    std::string bytes(2 * sizeof a, '\0');
    std::memcpy(bytes.data(), &a, sizeof a);
    std::memcpy(bytes.data() + sizeof a, &b, sizeof b);
    return bytes;
  };
  const Case cases[] = {
      {onnx::TensorProto::INT16, from_int32, raw(std::int16_t{1}, std::int16_t{0x3c00})},
      {onnx::TensorProto::UINT16, from_int32, raw(std::uint16_t{1}, std::uint16_t{0x3c00})},
      {onnx::TensorProto::FLOAT16, from_int32, raw(std::uint16_t{1}, std::uint16_t{0x3c00})},
      {onnx::TensorProto::BFLOAT16, from_int32, raw(std::uint16_t{1}, std::uint16_t{0x3c00})},
      {onnx::TensorProto::INT32, from_int32, raw(std::int32_t{1}, std::int32_t{0x3c00})},
      {onnx::TensorProto::UINT32, from_uint64, raw(std::uint32_t{1}, std::uint32_t{2})},
      {onnx::TensorProto::UINT64, from_uint64, raw(std::uint64_t{1}, std::uint64_t{2})},
      {onnx::TensorProto::INT8,
       [](onnx::TensorProto& t) { t.add_int32_data(-1), t.add_int32_data(2); }, "\xff\x02"},
      {onnx::TensorProto::UINT8,
       [](onnx::TensorProto& t) { t.add_int32_data(255), t.add_int32_data(2); }, "\xff\x02"},
      {onnx::TensorProto::BOOL,
       [](onnx::TensorProto& t) { t.add_int32_data(7), t.add_int32_data(1); }, "\x01\x01"},
      {onnx::TensorProto::DOUBLE,
       [](onnx::TensorProto& t) { t.add_double_data(1), t.add_double_data(2); }, raw(1.0, 2.0)},
      {onnx::TensorProto::INT64,
       [](onnx::TensorProto& t) { t.add_int64_data(1), t.add_int64_data(2); },
       raw(std::int64_t{1}, std::int64_t{2})},
  };
  for (const Case& c : cases) {
    onnx::ModelProto model = parsed_model("g (float[2] x) => (float[2] y) { y = Relu (x) }");
    onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name("t");
    tensor.set_data_type(c.type);
    tensor.add_dims(2);
    c.fill(tensor);
    const Graph graph = import_bytes(model.SerializeAsString());
    const ConstantPtr constant = value(graph, "t").constant;
    EXPECT_EQ(std::string(static_cast<const char*>(constant->data()), constant->size_bytes()),
              c.bytes)
        << onnx::TensorProto::DataType_Name(c.type);
  }
}

TEST(Import, ReadsExternalDataAtItsOffset) {
  onnx::ModelProto model = external_model();
  onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
  for (const auto& [key, text] :
       {std::pair{"location", "data/w.bin"}, std::pair{"offset", "4"}, std::pair{"length", "8"}}) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(text);
  }
  const TempDir directory;
  std::filesystem::create_directory(directory / "data");
  const float stored[] = {7, 8, 9};
  write_file_atomically(directory / "data/w.bin",
                        {reinterpret_cast<const char*>(stored), sizeof stored});
  write_file_atomically(directory / "m.onnx", model.SerializeAsString());
  EXPECT_EQ(floats(*value(graph::import_onnx(directory / "m.onnx", {}), "w").constant),
            (std::vector<float>{8, 9}));

  write_file_atomically(directory / "data/w.bin",
                        {reinterpret_cast<const char*>(stored), 8});  // cut short
  try {
    graph::import_onnx(directory / "m.onnx", {});
    FAIL() << "bytes behind the end of the file are read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("needs bytes 4 to 12"), std::string::npos)
        << error.what();
  }
}

TEST(Import, KeepsTheVersionThatTheOpsetReaches) {
  const auto version = [](int opset) {
    return import_text("g (float[2,3] x) => (float[2,3] y) { y = Softmax (x) }", opset)
        .nodes[0]
        .op.version;
  };
  EXPECT_EQ(version(12), version(11));
  EXPECT_EQ(version(13), version(15));
  EXPECT_NE(version(12), version(13));
}

TEST(Import, KnowsShapesThatTheModelComputes) {
  const Graph graph = import_text(R"(g (float[2,3,4] x) => (float[2,12] y) {
    s = Shape (x)
    zero = Constant <value = int64 {0}> ()
    n = Gather (s, zero)
    axes = Constant <value = int64[1] {0}> ()
    n1 = Unsqueeze (n, axes)
    rest = Constant <value = int64[1] {-1}> ()
    shape = Concat <axis = 0> (n1, rest)
    y = Reshape (x, shape)
  })");
  EXPECT_EQ(graph.values[graph.outputs[0]].desc.shape, (Shape{2, 12}));
}

TEST(Import, TakesTheDeclarationWhereOnlyTheRunKnows) {
  const Graph graph = import_text(
      "g (float[6] x, int64[2] shape) => (float[2,3] y) { r = Reshape (x, shape) y = Relu (r) }");
  EXPECT_EQ(value(graph, "r").desc.shape, (Shape{kUnknownDim, kUnknownDim}));
  EXPECT_EQ(value(graph, "y").desc.shape, (Shape{2, 3}));
}

TEST(Import, TakesTheBranchThatAConstantConditionChooses) {
  const char* const text = R"(g (float[1,2] x) => (float[2] y) {
    s = Shape (x)
    zero = Constant <value = int64 {0}> ()
    n = Gather (s, zero)
    one = Constant <value = int64 {1}> ()
    is_one = Equal (n, one)
    y = If (is_one) <
      then_branch = t () => (float[2] a) { axes = Constant <value = int64[1] {0}> () a = Squeeze (x, axes) },
      else_branch = e () => (float[1,2] b) { b = Identity (x) }>
  })";
  const Graph graph = import_text(text);
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
  EXPECT_EQ(graph.nodes[graph.values[graph.outputs[0]].producer].op.type, "Squeeze");
}

TEST(Import, TakesTheBranchThatAKnownDimensionOfAnOpenShapeChooses) {
  const Graph graph = import_text(R"(g (float[6] x) => (int64[?] y) <int64[1] one = {1}> {
    chosen = NonZero (x)
    rows = Transpose (chosen)
    s = Shape (rows)
    columns = Gather (s, one)
    is_one = Equal (columns, one)
    y = If (is_one) <
      then_branch = t () => (int64[n] a) { a = Squeeze (rows, one) },
      else_branch = e () => (int64[n,m] b) { b = Identity (rows) }>
  })");
  EXPECT_EQ(graph.nodes[graph.values[graph.outputs[0]].producer].op.type, "Squeeze");
}

TEST(Import, InfersWhatAShapeKnownInPartAsksFor) {
  const Graph graph = import_text(R"(g (float[6] x, float[1,7] v) => (float[?] y)
      <int64[1] zero = {0}, int64[1] one = {1}, int64[1] seven = {7}> {
    chosen = NonZero (x)
    s = Shape (chosen)
    count = Slice (s, one, seven)
    rows = Concat <axis = 0> (count, seven)
    zeros = ConstantOfShape (rows)
    all = Expand (v, rows)
    flat = Concat <axis = 0> (seven, count)
    turned = Reshape (zeros, flat)
    y = Relu (all)
  })");
  EXPECT_EQ(value(graph, "zeros").desc.shape, (Shape{kUnknownDim, 7}));
  EXPECT_EQ(value(graph, "all").desc.shape, (Shape{kUnknownDim, 7}));
  EXPECT_EQ(value(graph, "turned").desc.shape, (Shape{7, kUnknownDim}));
}

TEST(Import, KnowsWhatIsNotPaddedWherePadsAreKnownInPart) {
  const Graph graph = import_text(R"(g (float[6] x, float[2,3,4] v) => (float[?,?,?] y)
      <int64[1] one = {1}, int64[1] two = {2}, int64[1] nine = {9}, int64[3] none = {0, 0, 1}> {
    chosen = NonZero (x)
    s = Shape (chosen)
    count = Slice (s, one, two)
    pads = Concat <axis = 0> (none, count, none)
    cut = Slice (pads, one, nine)
    y = Pad (v, cut)
  })");
  EXPECT_EQ(value(graph, "y").desc.shape, (Shape{2, 4, kUnknownDim}));
}

TEST(Import, KnowsWhatIsJoinedToComputedNumbers) {
  const Graph graph =
      import_text(R"(g (int64[1] n, float[2,3,4] v, float[1,7] w) => (float[?,?,?] y, float[?,?] z)
      <int64[5] none = {0, 1, 0, 0, 1}, int64[1] seven = {7}> {
    pads = Concat <axis = 0> (none, n)
    y = Pad (v, pads)
    twice = Mul (n, seven)
    rows = Concat <axis = 0> (twice, seven)
    z = Expand (w, rows)
  })");
  EXPECT_EQ(value(graph, "y").desc.shape, (Shape{2, 5, kUnknownDim}));
  EXPECT_EQ(value(graph, "z").desc.shape, (Shape{kUnknownDim, 7}));
}

TEST(Import, FollowsAShapeKnownInPartThroughWhatMovesItsElements) {
  const Graph graph = import_text(R"(g (float[6] x) => (float[?,?,?,?] y)
      <int64[2] turned = {1, 0}, int64[1] two = {2}> {
    chosen = NonZero (x)
    s = Shape (chosen)
    order = GatherElements (s, turned)
    twice = Tile (order, two)
    zeros = ConstantOfShape (twice)
    y = Relu (zeros)
  })");
  EXPECT_EQ(value(graph, "zeros").desc.shape, (Shape{kUnknownDim, 1, kUnknownDim, 1}));
}

// A decoder's step: places behind the past, one for each new word, however long the past is.
TEST(Import, KnowsHowFarTwoOpenSizesAreApart) {
  const graph::ImportOptions options{.input_shapes = {{"past", {1, 5, kUnknownDim}}}};
  const std::string text =
      R"(g (float[1,5,?] past, int64[1,3] words, float[8,4] table) => (int64[m] y, int64[n] z)
      <int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64[1] first = {0}, int64[1] axis = {2}, int64[1] back = {-2}> {
    s = Shape (past)
    seen = Gather (s, two)
    w = Shape (words)
    new = Gather (w, one)
    total = Add (seen, new)
    places = Range (seen, total, one)
    before = Sub (total, two)
    every_second = Range (before, total, two)
    y = Add (places, one)
    from = Unsqueeze (seen, first)
    to = Unsqueeze (total, first)
    rows = Slice (table, from, to, first)
    earlier = Add (from, back)
    more = Slice (table, earlier, to, first)
    last = Slice (past, from, to, axis)
    count = Range (zero, total, one)
    z = Add (count, every_second)
  })";
  const Graph graph = import_text(text, 13, options);
  EXPECT_EQ(value(graph, "places").desc.shape, (Shape{3}));
  EXPECT_EQ(value(graph, "y").desc.shape, (Shape{3}));
  EXPECT_EQ(value(graph, "every_second").desc.shape, (Shape{1}));
  EXPECT_EQ(value(graph, "rows").desc.shape, (Shape{3, 4}));
  EXPECT_EQ(value(graph, "more").desc.shape, (Shape{5, 4}));
  EXPECT_EQ(value(graph, "last").desc.shape, (Shape{1, 5, kUnknownDim}));
  EXPECT_EQ(value(graph, "count").desc.shape, (Shape{kUnknownDim}));
}

TEST(Import, InlinesFunctionsWithTheirAttributes) {
  const Graph graph = import_text(
      "g (float[2] x) => (float[2] y) { y = local.leaky <slope = 0.25> (x) }\n"
      "<opset_import: [\"\" : 13], domain: \"local\"> leaky <slope> (a) => (c) "
      "{ b = LeakyRelu <alpha : float = @slope> (a) c = Neg (b) }");
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].op.attrs.get_float("alpha", 0), 0.25f);
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
  const float x[] = {-4, 4};
  const auto input =
      std::make_shared<Constant>(TensorDesc{.dtype = DataType::kFloat, .shape = {2}}, x);
  EXPECT_EQ(floats(*interpret(graph, {input})[0]), (std::vector<float>{1, -4}));
}

TEST(Import, GivesEveryOutputAProducerOfItsOwn) {
  const Graph graph = import_text(
      "g (float[2] x) => (float[2] x, float[2] w) <float[2] w = {1, 2}> { unused = Relu (x) }");
  ASSERT_EQ(graph.outputs.size(), 2u);
  for (const graph::ValueId output : graph.outputs)
    EXPECT_NE(graph.values[output].producer, graph::kNone);
}

TEST(Import, BroadcastsAlongTheAxisOfOldOpsets) {
  const Graph graph = import_text(
      "g (float[1,2,2] x) => (float[1,2,2] y) <float[2] w = {10, 20}> { y = Add <broadcast = 1, "
      "axis = 1> (x, w) }",
      6);
  const float x[] = {1, 2, 3, 4};
  const auto input =
      std::make_shared<Constant>(TensorDesc{.dtype = DataType::kFloat, .shape = {1, 2, 2}}, x);
  EXPECT_EQ(floats(*interpret(graph, {input})[0]), (std::vector<float>{11, 12, 23, 24}));
}

TEST(Import, TakesThePReluSlopeOfOldOpsetsPerChannel) {
  const Graph graph = import_text(
      "g (float[1,2,2] x) => (float[1,2,2] y) <float[2] s = {10, 100}> { y = PRelu (x, s) }", 6);
  const float x[] = {1, -2, 3, -4};
  const auto input =
      std::make_shared<Constant>(TensorDesc{.dtype = DataType::kFloat, .shape = {1, 2, 2}}, x);
  EXPECT_EQ(floats(*interpret(graph, {input})[0]), (std::vector<float>{1, -20, 3, -400}));
}

TEST(Import, ReshapesAsTheAttributeOfOldOpsetsSays) {
  const Graph graph =
      import_text("g (float[2,3,4] x) => (float[2,12] y) { y = Reshape <shape = [0, -1]> (x) }", 1);
  EXPECT_EQ(graph.values[graph.outputs[0]].desc.shape, (Shape{2, 12}));
}

TEST(Import, AnEmptyAutoPadSaysNothing) {
  const Graph graph = import_text(
      "g (float[1,1,4,4] x) => (float[1,1,4,4] y) <float[1,1,3,3] w> "
      "{ y = Conv <auto_pad = \"\", pads = [1, 1, 1, 1]> (x, w) }");
  EXPECT_EQ(graph.values[graph.outputs[0]].desc.shape, (Shape{1, 1, 4, 4}));
}

TEST(Import, KeepsWhatOutNodesAskFor) {
  const Graph graph = import_text("g (float[2] x) => (float[2] y) { a = Relu (x) y = Abs (a) }", 13,
                                  {.out_nodes = {"Relu_0:0"}});
  ASSERT_EQ(graph.outputs.size(), 1u);
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "a");
}

TEST(Import, OutputsThatAreConstantsKeepTheirNames) {
  const Graph graph = import_text(
      "g (float[2] x) => (float[2] y, float[2] w, int64 n) <float[2] w = {1, 2}> "
      "{ n = Constant <value_int = 3> () y = Add (x, w) }");
  ASSERT_EQ(graph.outputs.size(), 3u);
  EXPECT_EQ(graph.values[graph.outputs[1]].name, "w");
  EXPECT_EQ(graph.values[graph.outputs[2]].name, "n");
}

/// As converters of opset 9 wrote it: bodies squeeze the counter, and gather rows with what that leaves.
TEST(Import, TakesALoopWhoseCounterIsATensorOfOneElement) {
  const Graph graph = import_text(R"(
      g (int64 n, bool c, float[3,2] x) => (float[2] y, float[2,2] rows) <float[2] zero = {0, 0}> {
        y, rows = Loop (n, c, zero) <body = b (int64[1] i, bool[1] go, float[2] s) => (bool[1] on, float[2] t, float[2] r) {
          on = Identity (go)
          k = Squeeze <axes = [0]> (i)
          r = Gather <axis = 0> (x, k)
          t = Add (s, r)
        }>
      })",
                                  9);
  const auto whole = [](std::int64_t v) {
    return std::make_shared<Constant>(TensorDesc{.dtype = DataType::kInt64}, &v);
  };
  const bool yes = true;
  const float x[] = {1, 2, 3, 4, 5, 6};
  const auto results = interpret(
      graph,
      {whole(2), std::make_shared<Constant>(TensorDesc{.dtype = DataType::kBool}, &yes),
       std::make_shared<Constant>(TensorDesc{.dtype = DataType::kFloat, .shape = {3, 2}}, x)});
  EXPECT_EQ(floats(*results[0]), (std::vector<float>{4, 6}));
  EXPECT_EQ(floats(*results[1]), (std::vector<float>{1, 2, 3, 4}));
}

// Rows of heads are turned where they lie, and not once for each half.
TEST(Import, TurnsPairsByOneOp) {
  const Graph graph = import_text(R"(
      g (float[2,3,16] x, float[2,3,2] c, float[2,3,2] s) => (float[2,3,16] y) {
        y = RotaryEmbedding <num_heads = 4> (x, c, s)
      })",
                                  23);
  std::vector<std::string> types;
  for (const auto& node : graph.nodes) types.push_back(node.op.type);
  EXPECT_EQ(types, (std::vector<std::string>{"Reshape", "RotaryMul", "Reshape"}));
}

// What a product with packed weights is allowed to round, and no other.
TEST(Import, RoundsRowsToBytesWhereTheModelAllowsIt) {
  const auto rounds = [](const std::string& accuracy) {
    const Graph graph = import_text(
        "g (float[3,16] x, uint8[2,1,8] w, float[2] s) => (float[3,2] y) { y = "
        "com.microsoft.MatMulNBits <K = 16, N = 2, bits = 4, block_size = 16" +
            accuracy + "> (x, w, s) }",
        17);
    for (const auto& node : graph.nodes)
      if (node.op.type == "WeightQuantBatchMatmulV2") return node.op.attrs.get_int("rounds_x", 0);
    return std::int64_t{-1};
  };
  EXPECT_EQ(rounds(""), 0);
  EXPECT_EQ(rounds(", accuracy_level = 1"), 0);
  EXPECT_EQ(rounds(", accuracy_level = 4"), 1);
}

TEST(Import, ScalarsAndEmptyTensorsAreShapes) {
  const Graph graph = import_text(
      "g (float x, float[0,3] e) => (float y, float[0,3] z) { y = Relu (x) z = Relu (e) }");
  EXPECT_EQ(graph.values[graph.outputs[0]].desc.shape, Shape{});
  EXPECT_EQ(graph.values[graph.outputs[1]].desc.shape, (Shape{0, 3}));
}

}  // namespace
}  // namespace aoe::tests
