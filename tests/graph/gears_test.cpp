// Dynamic gears: the flags, and several gears of a model joined into one graph.
#include "graph/import/gears.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "graph/passes.h"
#include "graph/verify.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"

namespace aoe::graph {
namespace {

constexpr GearKind kBatch = GearKind::kBatch, kImage = GearKind::kImage, kDims = GearKind::kDims;

TEST(ParseGears, FillsInTheOpenDimensions) {
  const GearRequest batch = parse_gears(kBatch, "1,4", "x:-1,3;y:2,5;z:-1");
  EXPECT_EQ(batch.values, (std::vector<GearValues>{{1}, {4}}));
  EXPECT_EQ(input_shapes_of(batch, 1),
            (std::map<std::string, Shape>{{"x", {4, 3}}, {"y", {2, 5}}, {"z", {4}}}));
  const GearRequest image = parse_gears(kImage, "8,16;32,64", "x:1,3,-1,-1");
  EXPECT_EQ(input_shapes_of(image, 1), (std::map<std::string, Shape>{{"x", {1, 3, 32, 64}}}));
  // In the order of --input_shape, not of the names.
  const GearRequest dims = parse_gears(kDims, "1,2,3;4,5,6", "z:-1;a:-1,7,-1");
  EXPECT_EQ(input_shapes_of(dims, 1), (std::map<std::string, Shape>{{"z", {4}}, {"a", {5, 7, 6}}}));
}

TEST(ParseGears, RefusesWhatDoesNotFit) {
  std::string many = "1";
  for (int i = 2; i <= 101; ++i) many += "," + std::to_string(i);
  struct Case {
    GearKind kind;
    std::string values, shapes, says;
  };
  const Case cases[] = {
      {kBatch, "4", "x:-1,3", "1 gears, of 2 to 100"},
      {kBatch, "", "x:-1,3", "0 gears, of 2 to 100"},
      {kBatch, many, "x:-1,3", "101 gears, of 2 to 100"},
      {kBatch, "1,0", "x:-1,3", "'0' is no size"},
      {kBatch, "1,x", "x:-1,3", "'x' is no size"},
      {kBatch, "1,", "x:-1,3", "a gear has no size"},
      {kDims, "8,;16,8", "x:-1,-1", "'' is no size"},
      {kBatch, "1,2,1", "x:-1,3", "1 is given twice"},
      {kBatch, "1,2", "x:1,3", "no dimension is -1"},
      {kBatch, "1,2", "", "no dimension is -1"},
      {kBatch, "1,2", "x:1,-1", "the first dimension only"},
      {kBatch, "1,2", "x:-1,-1", "the first dimension only"},
      {kBatch, "1,2", "x:-2,3", "is negative"},
      {kImage, "8,8;16", "x:1,3,-1,-1", "gear 16 has 1 sizes instead of 2"},
      {kImage, "8,8;16,16", "x:-1,3,-1,-1", "height and width"},
      {kImage, "8,8;16,16", "x:1,3,-1,8", "height and width"},
      {kImage, "8,8;16,16", "x:1,-1,-1", "height and width"},
      {kDims, "8,8;16,16", "x:1,-1", "has 2 sizes instead of 1, one for each -1"},
      {kDims, "8;;16", "x:1,-1", "a gear has no size"},
  };
  for (const Case& c : cases) try {
      parse_gears(c.kind, c.values, c.shapes);
      ADD_FAILURE() << c.values << " with " << c.shapes << " is accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage) << error.what();
      EXPECT_NE(std::string(error.what()).find(c.says), std::string::npos) << error.what();
    }
}

class JoinedGears : public testing::Test {
 protected:
  GearedGraph import(const std::string& model, GearKind kind, const std::string& values,
                     const std::string& shapes) {
    const auto path = dir_ / "m.onnx";
    write_file_atomically(path, aoe::tests::model_bytes(model));
    return aoe::tests::import_gears(path, parse_gears(kind, values, shapes));
  }
  aoe::tests::TempDir dir_;
};

constexpr const char* kConvModel = R"(
  g (float[N,3,8,8] x) => (float[N,4,8,8] y) <float[4,3,3,3] w> {
    c = Conv <pads = [1,1,1,1]> (x, w)
    y = Relu (c)
  })";

TEST_F(JoinedGears, AreDisjointPartsWithSharedConstants) {
  const GearedGraph model = import(kConvModel, kBatch, "1,3", "x:-1,3,8,8");
  EXPECT_EQ(model.gears.dynamic_axes, (std::vector<std::vector<int>>{{0}}));
  const Graph& graph = model.graph;
  verify(graph, "the join");
  ASSERT_EQ(graph.nodes.size(), 2u);  // a fused convolution each
  ASSERT_EQ(graph.inputs.size(), 2u);
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "gear[1]:x");
  EXPECT_EQ(graph.values[graph.inputs[1]].name, "gear[3]:x");
  EXPECT_EQ(graph.values[graph.outputs[1]].desc.shape, (Shape{3, 4, 8, 8}));
  EXPECT_TRUE(graph.nodes[0].name.starts_with("gear[1]:"));
  EXPECT_EQ(graph.nodes[1].origins, graph.nodes[0].origins);
  const auto weights = [&](int node) { return graph.values[graph.nodes[node].inputs[1]].constant; };
  EXPECT_NE(weights(0), nullptr);
  EXPECT_EQ(weights(0), weights(1));
}

TEST_F(JoinedGears, ComputeWhatTheModelDoesInEachGear) {
  const GearedGraph model = import(kConvModel, kBatch, "1,3", "x:-1,3,8,8");
  const auto inputs = aoe::tests::random_inputs(model.graph, 7);
  const auto outputs = aoe::tests::interpret(model.graph, inputs);
  for (std::size_t gear = 0; gear < 2; ++gear) {
    ImportOptions options;
    options.input_shapes["x"] = inputs[gear]->desc().shape;
    const Graph alone = import_onnx(dir_ / "m.onnx", options);
    const auto expected = aoe::tests::interpret(alone, {inputs[gear]});
    const auto* wanted = static_cast<const float*>(expected[0]->data());
    const auto* is = static_cast<const float*>(outputs[gear]->data());
    ASSERT_EQ(outputs[gear]->desc(), expected[0]->desc());
    for (std::int64_t i = 0; i < element_count(expected[0]->desc().shape); ++i)
      ASSERT_NEAR(is[i], wanted[i], 1e-4) << "gear " << gear << ", element " << i;
  }
}

TEST_F(JoinedGears, AxesThatANameBindsAreDynamicToo) {
  constexpr const char* kTwo = R"(
    g (float[N,T] a, float[N,T] b) => (float[N,T] y) { y = Add (a, b) })";
  const GearedGraph model = import(kTwo, kDims, "1,8;2,8", "a:-1,-1");
  EXPECT_EQ(model.gears.dynamic_axes, (std::vector<std::vector<int>>{{0, 1}, {0}}));
  EXPECT_EQ(model.graph.values[model.graph.inputs[3]].desc.shape, (Shape{2, 8}));
}

TEST_F(JoinedGears, RefuseWhatAGearCannotDo) {
  const auto message = [&](const std::string& model, GearKind kind, const std::string& values,
                           const std::string& shapes) -> std::string {
    try {
      import(model, kind, values, shapes);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  // The model's own declaration holds in every gear.
  const std::string fixed =
      message(R"(g (float[2,3] x) => (float[2,3] y) { y = Relu (x) })", kBatch, "2,4", "x:-1,3");
  EXPECT_NE(fixed.find("--dynamic_batch_size, gear 4:"), std::string::npos) << fixed;
  EXPECT_NE(fixed.find("contradictory shapes"), std::string::npos) << fixed;
  EXPECT_NE(message(kConvModel, kBatch, "1,2", "nosuch:-1,3").find("no input 'nosuch'"),
            std::string::npos);
  const std::string elsewhere =
      message(R"(g (float[N,3] x, float[3,N] z) => (float[N,N] y) { y = MatMul (x, z) })", kBatch,
              "1,2", "x:-1,3");
  EXPECT_NE(elsewhere.find("use --dynamic_dims"), std::string::npos) << elsewhere;
}

}  // namespace
}  // namespace aoe::graph
