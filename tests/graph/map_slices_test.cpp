// Ops along an axis whose length only a run can tell: which become bodies of one node, and with how many slices.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/analysis/slice_regions.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::tests {
namespace {

using graph::Graph;
using graph::Node;

/// Two sets of rows of x that only a run can tell, r and q, and what `network` makes of them.
Graph imported_rows(const std::string& outputs, const std::string& weights,
                    const std::string& network) {
  return import_text("g (float[40,16] x) => (" + outputs + ") <" + weights + R"(
      float zero = {0}, float one = {1}, int64[1] flat = {-1}, int64[1] first = {0}> {
    h = Gather <axis = 1> (x, first)
    p = Reshape (h, flat)
    c = Greater (p, zero)
    m = NonZero (c)
    i = Reshape (m, flat)
    r = Gather <axis = 0> (x, i)
    d = Greater (p, one)
    n = NonZero (d)
    j = Reshape (n, flat)
    q = Gather <axis = 0> (x, j)
    )" + network + "}",
                     20);
}

/// The same behind all passes.
Graph rows_through(const std::string& outputs, const std::string& weights,
                   const std::string& network) {
  Graph graph = imported_rows(outputs, weights, network);
  graph::run_passes(graph, {});
  return graph;
}

std::vector<const Node*> maps_of(const Graph& graph) {
  std::vector<const Node*> maps;
  for (const Node& node : graph.nodes)
    if (!node.is_dead && graph::is_type(node, "MapSlices")) maps.push_back(&node);
  return maps;
}

/// Of the body for the longest parts.
std::vector<std::string> types_in(const Node& map) {
  std::vector<std::string> types;
  const Graph& body = *map.bodies.front();
  for (const graph::NodeId id : body.topological_order())
    for (const std::string& type : reference::op_types(body.nodes[id].op)) types.push_back(type);
  return types;
}

TEST(MapSlices, TakesARowOfOpsWithAllPassesBehindIt) {
  const Graph graph = rows_through("y", "float[16,24] w, float[24] b,", R"(
    a = MatMul (r, w)
    s = Add (a, b)
    y = Relu (s)
  )");
  const auto maps = maps_of(graph);
  ASSERT_EQ(maps.size(), 1U);
  EXPECT_EQ(types_in(*maps[0]),
            (std::vector<std::string>{"Reshape", "GatherV2", "MatMulV2", "Add", "Relu"}));
  EXPECT_EQ(maps[0]->op.attrs.get_ints("output_axes"), (std::vector<std::int64_t>{0}));
  // The places of the rows, as NonZero has them, and x whole.
  EXPECT_EQ(maps[0]->op.attrs.get_ints("axes"), (std::vector<std::int64_t>{1, -1}));
  ASSERT_EQ(maps[0]->bodies.size(), 4U);
  const Shape longest = graph::shape_of(*maps[0]->bodies[0], maps[0]->bodies[0]->outputs[0]);
  const Shape next = graph::shape_of(*maps[0]->bodies[1], maps[0]->bodies[1]->outputs[0]);
  EXPECT_EQ(longest[0], 2 * next[0]);
  EXPECT_EQ(longest[1], 24);
}

TEST(MapSlices, DoesNotJoinRowsOfDifferentLength) {
  const Graph graph = rows_through("y, z", "", R"(
    y = Exp (r)
    z = Tanh (q)
  )");
  const auto maps = maps_of(graph);
  ASSERT_EQ(maps.size(), 2U);
  EXPECT_EQ(types_in(*maps[0]), (std::vector<std::string>{"Reshape", "GatherV2", "Exp"}));
  EXPECT_EQ(types_in(*maps[1]), (std::vector<std::string>{"Reshape", "GatherV2", "Tanh"}));
}

/// Each body would hold it.
TEST(MapSlices, LeavesLargeTablesOutside) {
  const Graph graph = rows_through("y", "float[20000,8] t,", R"(
    a = Gather <axis = 0> (t, i)
    y = Exp (a)
  )");
  const auto maps = maps_of(graph);
  ASSERT_EQ(maps.size(), 1U);
  EXPECT_EQ(types_in(*maps[0]), (std::vector<std::string>{"Exp"}));
}

/// Two lengths that may differ, or may be 1: a run stretches what the node reads.
TEST(MapSlices, StretchesTwoLengthsThatMayDiffer) {
  const Graph graph = rows_through("y", "", R"(
    a = Exp (r)
    b = Tanh (q)
    y = Add (a, b)
  )");
  const auto maps = maps_of(graph);
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(types_in(*maps[2]), (std::vector<std::string>{"Add"}));
  EXPECT_EQ(maps[2]->op.attrs.get_ints("axes"), (std::vector<std::int64_t>{0, 0}));
}

/// Each combination of places is a slice, which all ops have in the same order.
TEST(MapSlices, TakesAllOpenDimensionsOfElementwiseOpsTogether) {
  const Graph graph = rows_through("y, z", "float[1,1] two = {2},", R"(
    t = Transpose (q)
    s = MatMul (r, t)
    a = Mul (s, two)
    y = Exp (a)
    top = ReduceMax <keepdims = 1> (y, first)
    z = Sub (y, top)
  )");
  std::vector<const Node*> several;
  for (const Node* map : maps_of(graph))
    if (map->op.attrs.get_int("dims", 1) == 2) several.push_back(map);
  ASSERT_EQ(several.size(), 2U);
  EXPECT_EQ(types_in(*several[0]), (std::vector<std::string>{"Mul", "Exp"}));
  EXPECT_EQ(several[0]->op.attrs.get_ints("output_axes"), (std::vector<std::int64_t>{1}));
  const Graph& body = *several[0]->bodies[0];
  EXPECT_EQ(graph::shape_of(body, body.outputs[0]), (Shape{1, 65536}));
  EXPECT_EQ(types_in(*several[1]), (std::vector<std::string>{"Sub"}));
  EXPECT_EQ(several[1]->op.attrs.get_ints("axes"), (std::vector<std::int64_t>{1, 1}));
}

/// Behind other places than the one that is open, rows of a part would be copied one by one.
TEST(MapSlices, TakesElementsOfValuesOfOneShape) {
  const std::string weights = "int64[1] first_axis = {0}, float[16,16,3] filter, float two = {2},";
  const std::string network = R"(
    t = Transpose (r)
    u = Unsqueeze (t, first_axis)
    e = Conv <pads = [1, 1]> (u, filter)
    v = LeakyRelu (e)
    f = Conv <pads = [1, 1]> (v, filter)
    a = Mul (f, two)
    y = Add (a, e)
  )";
  const Graph before = imported_rows("y", weights, network);
  Graph after = before;
  graph::run_passes(after, {});
  ASSERT_EQ(maps_of(after).size(), 2U);  // the convolutions keep the length
  for (const Node* map : maps_of(after)) {
    EXPECT_EQ(map->op.attrs.get_int("dims", 1), 3);
    EXPECT_EQ(map->op.attrs.get_int("in_place", 0), 1);
    const Graph& body = *map->bodies[0];
    EXPECT_EQ(graph::shape_of(body, body.outputs[0]), (Shape{1, 1, 65536}));
  }
  for (const std::uint32_t seed : {1U, 2U, 3U}) expect_same_outputs(before, after, seed);
}

/// As of the branches of a residual block.
TEST(MapSlices, JoinsWhatWindowsThatMoveAlikeMake) {
  const auto maps_behind = [](const std::string& other) {
    const std::string weights =
        "int64[1] first_axis = {0}, float[16,16,3] filter, float[16,16,1] point, float two = {2},";
    const Graph before = imported_rows("y", weights, R"(
      t = Transpose (r)
      u = Unsqueeze (t, first_axis)
      e = Conv <pads = [1, 1], strides = [2]> (u, filter)
      f = )" + other + R"(
      a = Mul (e, two)
      b = Mul (f, two)
      y = Add (a, b)
    )");
    Graph after = before;
    graph::run_passes(after, {});
    for (const std::uint32_t seed : {1U, 2U, 3U}) expect_same_outputs(before, after, seed);
    return maps_of(after).size();
  };
  EXPECT_EQ(maps_behind("Conv <strides = [2]> (u, point)"), 1U);
  EXPECT_EQ(maps_behind("MaxPool <kernel_shape = [3], strides = [2], pads = [1, 1]> (u)"), 1U);
  EXPECT_GT(maps_behind("Conv <strides = [2], auto_pad = \"SAME_UPPER\"> (u, point)"), 1U);
}

/// As of the residual of a quantised block: bytes lie between the regions.
TEST(MapSlices, WidensWhereItIsRead) {
  const std::string weights =
      "int64[1] first_axis = {0}, float[16,16,3] filter, float two = {2}, float scale = {0.1}, "
      "uint8 "
      "seven = {7},";
  const Graph before = imported_rows("y", weights, R"(
    t = Transpose (r)
    u = Unsqueeze (t, first_axis)
    v = LeakyRelu (u)
    bytes = QuantizeLinear (v, scale, seven)
    cast = Cast <to = 1> (bytes)
    floats = DequantizeLinear (bytes, scale, seven)
    e = Conv <pads = [1, 1]> (cast, filter)
    twice = Mul (e, two)
    y = Add (twice, floats)
  )");
  Graph after = before;
  graph::run_passes(after, {});
  const auto maps = maps_of(after);
  ASSERT_EQ(maps.size(), 2U);
  EXPECT_EQ(types_in(*maps[1]), (std::vector<std::string>{"Dequantize", "Mul", "Add"}));
  for (const std::uint32_t seed : {1U, 2U, 3U}) expect_same_outputs(before, after, seed);
}

/// What is stretched, along either dimension or both; rows of known length behind two that are not.
TEST(MapSlices, MakesOfSeveralOpenDimensionsWhatTheOpsMake) {
  for (const std::string network : {R"(
         t = Transpose (q)
         s = MatMul (r, t)
         a = Exp (s)
         top = ReduceMax <keepdims = 1> (a, first)
         b = Sub (a, top)
         col = Gather <axis = 1> (r, first)
         y = Mul (b, col)
       )",
                                    R"(
         u = Unsqueeze (r, one_axis)
         o = Unsqueeze (q, first)
         a = Add (u, o)
         b = LayerNormalization (a, scale)
         e = MatMul (b, w)
         y = Tanh (e)
       )",
                                    R"(
         col = Gather <axis = 1> (r, first)
         f = Gather <axis = 1> (q, first)
         l = Reshape (f, flat)
         a = Greater (col, l)
         b = Cast <to = 1> (a)
         e = Add (b, l)
         y = Where (a, e, zero)
       )"}) {
    SCOPED_TRACE(network);
    const std::string weights = "int64[1] one_axis = {1}, float[16] scale, float[16,5] w,";
    const Graph before = imported_rows("y", weights, network);
    Graph after = before;
    graph::run_passes(after, {});
    EXPECT_TRUE(std::ranges::any_of(
        maps_of(after), [](const Node* map) { return map->op.attrs.get_int("dims", 1) == 2; }));
    for (const std::uint32_t seed : {1U, 2U, 3U}) expect_same_outputs(before, after, seed);
  }
}

TEST(MapSlices, TakesProductsWithPackedWeightsAlongSeveralOpenDimensions) {
  const std::string weights =
      "int64[1] one_axis = {1}, float[2,1] steps,"
      "uint8[2,1,8] bits = {16, 50, 84, 118, 152, 186, 220, 254, 1, 35, 69, 103, 137, 171, 205, "
      "239},";
  const Graph before = imported_rows("y", weights, R"(
    u = Unsqueeze (r, one_axis)
    o = Unsqueeze (q, first)
    a = Mul (u, o)
    y = com.microsoft.MatMulNBits <K = 16, N = 2, bits = 4, block_size = 16> (a, bits, steps)
  )");
  Graph after = before;
  graph::run_passes(after, {});
  for (const Node& node : after.nodes)
    EXPECT_TRUE(node.is_dead || !graph::is_type(node, "WeightQuantBatchMatmulV2"));
  for (const std::uint32_t seed : {1U, 2U, 3U}) expect_same_outputs(before, after, seed);
}

/// A constant that differs from place to place is of no slice.
TEST(MapSlices, LeavesConstantsThatVaryBetweenOpenDimensions) {
  const Graph graph = rows_through("y", "float[3,1] three, int64[3] shape = {-1, 3, 1},", R"(
    e = Reshape (r, shape)
    t = Reshape (q, flat)
    w = Mul (e, t)
    y = Add (w, three)
  )");
  for (const Node* map : maps_of(graph))
    for (const std::string& type : types_in(*map)) EXPECT_NE(type, "Add");
}

TEST(MapSlices, LeavesCopiesOfRowsAlone) {
  EXPECT_TRUE(maps_of(rows_through("y", "", "y = Concat <axis = 1> (r, r)")).empty());
  EXPECT_TRUE(maps_of(rows_through("y", "", "y = Transpose (r)")).empty());
}

/// What is summed over all rows is read by the rows again: one node would wait for itself.
TEST(MapSlices, WaitsForWhatAllRowsAreNeededFor) {
  const Graph graph = rows_through("y", "", R"(
    a = Exp (r)
    s = ReduceSum <keepdims = 1> (a, first)
    y = Div (a, s)
  )");
  const auto maps = maps_of(graph);
  ASSERT_EQ(maps.size(), 2U);
  EXPECT_EQ(types_in(*maps[0]), (std::vector<std::string>{"Reshape", "GatherV2", "Exp"}));
  EXPECT_EQ(types_in(*maps[1]), (std::vector<std::string>{"Div"}));
}

/// As exporters write it: the shape of a Reshape is computed from that of what it reads.
TEST(MapSlices, TakesReshapesToComputedShapes) {
  const Graph graph =
      rows_through("y", "float[8,8] w, int64[1] eight = {8}, int64[1] two = {2},", R"(
    s = Shape (r)
    k = Gather <axis = 0> (s, first)
    t = Concat <axis = 0> (k, two, eight)
    a = Reshape (r, t)
    y = MatMul (a, w)
  )");
  const auto maps = maps_of(graph);
  ASSERT_EQ(maps.size(), 1U);
  EXPECT_EQ(graph::shape_of(graph, graph.outputs[0]), (Shape{-1, 2, 8}));
  for (const Node& node : graph.nodes) EXPECT_FALSE(graph::is_type(node, "Shape"));
}

/// Many rows for weights that take longer to read than to multiply, few images that fill a cache: neither gets the other's parts.
TEST(MapSlices, KeepsProductsOfManyWeightsAndLargeImagesApart) {
  const Graph graph =
      rows_through("y, z", "float[16,20736] w, float[16,4096] v, float[4,4,3,3] k,", R"(
    a = MatMul (r, v)
    y = Relu (a)
    b = MatMul (r, w)
    four = Constant <value_ints = [-1, 4, 72, 72]> ()
    e = Reshape (b, four)
    f = Conv <pads = [1,1,1,1]> (e, k)
    z = Relu (f)
  )");
  std::vector<std::vector<std::string>> types;
  for (const Node* map : maps_of(graph)) types.push_back(types_in(*map));
  ASSERT_EQ(types.size(), 2U);
  EXPECT_EQ(types[0],
            (std::vector<std::string>{"Reshape", "GatherV2", "MatMulV2", "Relu", "MatMulV2"}));
  EXPECT_EQ(types[1].back(), "Relu");
}

TEST(MapSlices, CutsPartsThatStayInACache) {
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(graph::part_sizes({.bytes = 4, .flops = 10}), (Sizes{65536, 32768, 8192, 2048}));
  EXPECT_EQ(graph::part_sizes({.bytes = 4096, .flops = 1e4}), (Sizes{64, 32, 8, 2}));
  EXPECT_EQ(graph::part_sizes({.bytes = 4096, .flops = 1e4}, {.threads = 4}),
            (Sizes{256, 128, 32, 8, 2, 1}));
  EXPECT_EQ(graph::part_sizes({.bytes = 1e6, .flops = 1e8, .weights = 1e5}), (Sizes{1}));
  // Weights that take longer to read than a row to multiply are read for as many rows as there are.
  EXPECT_EQ(graph::part_sizes({.bytes = 5e4, .flops = 2.5e7, .weights = 5e7}), (Sizes{64, 24, 8}));
  EXPECT_EQ(graph::part_sizes({.bytes = 64e6, .flops = 2.5e10, .weights = 5e7}), (Sizes{1}));
}

}  // namespace
}  // namespace aoe::tests
