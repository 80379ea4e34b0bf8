// Images whose height only a run can tell: which convolutions have their channels last, and what stands between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "graph/passes.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::tests {
namespace {

/// r, whose rows a run chooses, all of them, and f.
const std::string kOpenRows = R"(
    a = Abs (x)
    total = ReduceSum <keepdims = 0> (a, along)
    c = GreaterOrEqual (total, zero)
    chosen = NonZero (c)
    i = Reshape (chosen, flat)
    r = Gather <axis = 2> (x, i)
    f = Slice (r, none, three, one)
)";

/// `network` of r, an image of 8 channels that has all rows of x, and f, of its first three channels.
graph::Graph open_images(const std::string& outputs, const std::string& network) {
  return import_text("g (float[1,8,9,7] x) => (" + outputs +
                         R"() <float zero = {0}, float six = {6}, int64[1] flat = {-1},
      int64[4] across = {0, 1, 3, 0}, int64[3] along = {0, 1, 3}, int64[1] none = {0}, int64[1] three = {3}, int64[1] one = {1},
      float[24,8,1,1] widen, float[24] b24, float[24,1,3,3] deep, float[24,1,5,5] deep5, float[8,24,1,1] narrow, float[8] b8,
      float[8,3,3,3] begin, float[6,24,1,1] squeeze, float[24,6,1,1] excite, float[8,16,1,1] join, float[24,1,1] slope,
      float[5,8,1,1] end, float[4] twice = {1, 1, 2, 2}, float[8,8,3,3] dense, float[24,24,1,1] square> {
)" + kOpenRows + network +
                         "}",
                     13);
}

/// The same in QDQ form, of scales that are powers of 2, so that bytes are rounded alike.
graph::Graph open_byte_images(const std::string& outputs, const std::string& network) {
  return import_text("g (float[1,8,9,7] x) => (" + outputs +
                         R"() <float zero = {0}, int64[1] flat = {-1}, int64[3] along = {0, 1, 3},
      int64[1] none = {0}, int64[1] three = {3}, int64[1] one = {1}, float s = {0.0625}, float t = {0.25}, uint8 z = {3}, int8 n = {0},
      uint8 m = {128}, int8[24,8,1,1] widen, int8[24,1,3,3] deep, int8[8,24,1,1] narrow, uint8[8,3,3,3] begin, int8[16,8,3,3] dense,
      int8[8,16,1,1] join> {
)" + kOpenRows + network +
                         "}",
                     13);
}

std::map<std::string, int> types_of(const graph::Graph& graph) {
  std::map<std::string, int> types;
  for (const graph::NodeId id : graph.topological_order()) ++types[graph.nodes[id].op.type];
  return types;
}

struct OpenNetwork {
  const char* name;
  std::string outputs, network;
  int pointwise, windows, transposes;
};

void PrintTo(const OpenNetwork& network, std::ostream* out) {
  *out << network.name;
}

const std::string kInverted = R"(
    w1 = Conv (r, widen, b24)
    w2 = Clip (w1, zero, six)
    d1 = Conv <group = 24, pads = [1,1,1,1], strides = [2,2]> (w2, deep, b24)
    d2 = Relu (d1)
    n1 = Conv (d2, narrow, b8)
)";

class ChannelsLast : public testing::TestWithParam<OpenNetwork> {};

TEST_P(ChannelsLast, ArePutThereAndTheMeaningIsKept) {
  const OpenNetwork& network = GetParam();
  const graph::Graph before = open_images(network.outputs, network.network);
  graph::Graph after = before;
  const auto pass = std::ranges::find(graph::passes(), "put_channels_last", &graph::Pass::name);
  EXPECT_EQ(pass->run(after), network.pointwise + network.windows > 0);
  auto types = types_of(after);
  EXPECT_EQ(types["MatMulV2"], network.pointwise);
  EXPECT_EQ(types["NhwcConv2D"], network.windows);
  EXPECT_EQ(types["Transpose"], network.transposes) << after.to_text();
  expect_same_outputs(before, after, 1);
  graph::Graph whole = before;
  graph::run_passes(whole, {});
  expect_same_outputs(before, whole, 2);
}

INSTANTIATE_TEST_SUITE_P(
    OfImages, ChannelsLast,
    testing::Values(OpenNetwork{"AnInvertedResidual", "y", kInverted + R"(
    w3 = Conv (n1, widen)
    d3 = Conv <group = 24, pads = [2,2,2,2]> (w3, deep5)
    n2 = Conv (d3, narrow, b8)
    u = Add (n1, n2)
    y = GlobalAveragePool (u))",
                                4, 2, 2},
                    OpenNetwork{"TheFirstReadsPlanes", "y", R"(
    b = Conv <pads = [1,1,1,1], strides = [2,1]> (f, begin, b8)
    e = Relu (b)
    w = Conv (e, widen)
    d = Conv <group = 24, pads = [0,1,1,0]> (w, deep)
    y = GlobalAveragePool (d))",
                                1, 2, 1},
                    OpenNetwork{"SqueezeAndExcitation", "y", R"(
    w = Conv (r, widen)
    d = Conv <group = 24, pads = [1,1,1,1]> (w, deep, b24)
    g = Sigmoid (d)
    h = Mul (d, g)
    m = GlobalAveragePool (h)
    q = Conv (m, squeeze)
    q1 = Relu (q)
    q2 = Conv (q1, excite)
    q3 = Sigmoid (q2)
    v = Mul (h, q3)
    n1 = Conv (v, narrow)
    p = Conv (n1, widen)
    k = PRelu (p, slope)
    y = GlobalAveragePool (k))",
                                3, 1, 4},
                    OpenNetwork{"BranchesThatAreJoined", "y", R"(
    l = Conv (r, widen)
    l1 = Conv (l, narrow)
    e = Conv (r, widen, b24)
    e1 = Conv (e, narrow)
    t = Concat <axis = 1> (l1, e1)
    j = Conv (t, join)
    y = GlobalAveragePool (j))",
                                5, 0, 2},
                    OpenNetwork{"WhatOthersReadIsGivenBack", "y, n2, z", kInverted + R"(
    w3 = Conv (n1, widen)
    w4 = Conv (w3, square)
    w5 = Conv (w4, square)
    n2 = Conv (w5, narrow)
    p = MaxPool <kernel_shape = [2,2]> (n2)
    y = Relu (p)
    z = Conv (n2, end))",
                                7, 1, 4},
                    OpenNetwork{"DenseWindowsBetweenOthers", "y", R"(
    p = MaxPool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]> (r)
    w1 = Conv (p, widen, b24)
    n1 = Conv (w1, narrow)
    d1 = Conv <pads = [1,1,1,1]> (n1, dense)
    e1 = Relu (d1)
    w2 = Conv (e1, widen)
    m = MaxPool <kernel_shape = [2,2], pads = [0,1,0,0]> (w2)
    n2 = Conv (m, narrow, b8)
    w3 = Conv (n2, widen)
    n3 = Conv (w3, narrow)
    u = Add (n3, n2)
    y = GlobalAveragePool (u))",
                                6, 1, 2},
                    OpenNetwork{"FewAreLeft", "y",
                                kInverted + "y = MaxPool <kernel_shape = [2,2]> (n1)", 0, 0, 0},
                    OpenNetwork{"MeansOfWindowsSplitsAndLargerImages", "y", R"(
    w1 = Conv (r, widen)
    p = AveragePool <kernel_shape = [2,2], strides = [2,2], pads = [0,1,0,0]> (w1)
    s1, s2 = Split <axis = 1> (p)
    t = Concat <axis = 1> (s2, s1)
    z = Resize <mode = "nearest"> (t, , twice)
    n1 = Conv (z, narrow)
    w2 = Conv (n1, widen)
    n2 = Conv (w2, narrow)
    y = GlobalAveragePool (n2))",
                                4, 0, 2},
                    OpenNetwork{"DenseWindowsAlone", "y", R"(
    n1 = Conv <pads = [1,1,1,1]> (r, dense)
    n2 = Conv <pads = [1,1,1,1]> (n1, dense)
    n3 = Conv <pads = [1,1,1,1]> (n2, dense, b8)
    y = Conv <pads = [1,1,1,1], strides = [2,2]> (n3, dense))",
                                0, 4, 2},
                    OpenNetwork{"AFewDenseWindowsAreLeft", "y", R"(
    n1 = Conv <pads = [1,1,1,1]> (r, dense)
    n2 = Conv <pads = [1,1,1,1]> (n1, dense)
    y = Conv <pads = [1,1,1,1]> (n2, dense))",
                                0, 0, 0}),
    [](const auto& tested) { return tested.param.name; });

/// `to` = a convolution of `from`, of bytes to bytes.
std::string byte_convolution(const std::string& to, const std::string& from,
                             const std::string& weights, const std::string& attributes = "",
                             const std::string& weight_zero = "n") {
  return to + "_x = DequantizeLinear (" + from + ", s, z)\n" + to + "_w = DequantizeLinear (" +
         weights + ", t, " + weight_zero + ")\n" + to + "_y = Conv " + attributes + " (" + to +
         "_x, " + to + "_w)\n" + to + "_r = Relu (" + to + "_y)\n" + to + " = QuantizeLinear (" +
         to + "_r, s, z)\n";
}

struct ByteNetwork {
  const char* name;
  std::string outputs, network;
  int pointwise, windows, transposes;
};

void PrintTo(const ByteNetwork& network, std::ostream* out) {
  *out << network.name;
}

class BytesLast : public testing::TestWithParam<ByteNetwork> {};

TEST_P(BytesLast, ArePutThereAndTheMeaningIsKept) {
  const ByteNetwork& network = GetParam();
  const graph::Graph before = open_byte_images(network.outputs, network.network);
  graph::Graph after = before;
  for (const char* name :
       {"raise_quantize", "fuse_quantized", "sink_dequantize", "put_channels_last"})
    std::ranges::find(graph::passes(), name, &graph::Pass::name)->run(after);
  auto types = types_of(after);
  EXPECT_EQ(types["QuantMatMul"], network.pointwise);
  EXPECT_EQ(types["NhwcQuantConv2D"], network.windows);
  EXPECT_EQ(types["Transpose"], network.transposes) << after.to_text();
  expect_same_outputs(before, after, 1);
  graph::Graph whole = before;
  graph::run_passes(whole, {});
  expect_same_outputs(before, whole, 2);
}

const std::string kByteBlock =
    "q = QuantizeLinear (r, s, z)\n" + byte_convolution("w1", "q", "widen") +
    byte_convolution("d1", "w1", "deep", "<group = 24, pads = [1,1,1,1], strides = [2,2]>") +
    byte_convolution("n1", "d1", "narrow");

INSTANTIATE_TEST_SUITE_P(
    OfImages, BytesLast,
    testing::Values(ByteNetwork{"AnInvertedResidual", "y",
                                kByteBlock + byte_convolution("w2", "n1", "widen") +
                                    byte_convolution("n2", "w2", "narrow") + R"(
    a1 = DequantizeLinear (n1, s, z)
    a2 = DequantizeLinear (n2, s, z)
    u = Add (a1, a2)
    v = QuantizeLinear (u, t, m)
    v1 = DequantizeLinear (v, t, m)
    y = GlobalAveragePool (v1))",
                                4, 1, 2},
                    ByteNetwork{"TheFirstReadsPlanes", "y",
                                "q = QuantizeLinear (f, s, z)\n" +
                                    byte_convolution("b", "q", "begin",
                                                     "<pads = [1,0,1,2], strides = [2,1]>", "m") +
                                    byte_convolution("e", "b", "dense", "<pads = [1,1,1,1]>") + R"(
    e1 = DequantizeLinear (e, s, z)
    p = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1], strides = [2,2]> (e1)
    p1 = QuantizeLinear (p, s, z)
    )" + byte_convolution("j", "p1", "join") +
                                    "k = DequantizeLinear (j, s, z)\n y = GlobalAveragePool (k)",
                                1, 2, 1},
                    ByteNetwork{"BranchesAreJoinedAsBytes", "y",
                                "q = QuantizeLinear (r, s, z)\n" +
                                    byte_convolution("e", "q", "dense", "<pads = [1,1,1,1]>") +
                                    byte_convolution("j", "e", "join") + R"(
    e1 = DequantizeLinear (e, s, z)
    j1 = DequantizeLinear (j, s, z)
    t1 = Concat <axis = 1> (e1, j1)
    t2 = QuantizeLinear (t1, t, m)
    t3 = DequantizeLinear (t2, t, m)
    w = DequantizeLinear (narrow, t, n)
    h = Conv (t3, w)
    y = GlobalAveragePool (h))",
                                2, 1, 2},
                    ByteNetwork{"FewAreLeft", "y", kByteBlock + "y = DequantizeLinear (n1, s, z)",
                                0, 0, 0}),
    [](const auto& tested) { return tested.param.name; });

/// What of an activation is one node with the convolution before it.
struct Curve {
  const char* name;
  std::string network;
  std::string last;  ///< type of the last step of the body; empty: nothing is fused
};

void PrintTo(const Curve& curve, std::ostream* out) {
  *out << curve.name;
}

class CurvesBehindDepthwise : public testing::TestWithParam<Curve> {};

TEST_P(CurvesBehindDepthwise, AreOneNodeWithIt) {
  const graph::Graph before = open_images("y", R"(
    w1 = Conv (r, widen, b24)
    d1 = Conv <group = 24, pads = [1,1,1,1]> (w1, deep, b24)
)" + GetParam().network + R"(
    n1 = Conv (d2, narrow, b8)
    y = GlobalAveragePool (n1)
)");
  graph::Graph after = before;
  for (const char* name : {"put_channels_last", "fuse_open_activations"})
    std::ranges::find(graph::passes(), name, &graph::Pass::name)->run(after);
  std::string last;
  for (const graph::NodeId id : after.topological_order())
    if (const auto& op = after.nodes[id].op;
        op.body != nullptr && op.body->steps[0].call.type == "NhwcConv2D")
      last = op.body->steps.back().call.type;
  EXPECT_EQ(last, GetParam().last) << after.to_text();
  expect_same_outputs(before, after, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, CurvesBehindDepthwise,
    testing::Values(Curve{"silu", "s1 = Sigmoid (d1)\n d2 = Mul (d1, s1)", "Mul"},
                    Curve{"turned", "s1 = Sigmoid (d1)\n d2 = Mul (s1, d1)", "Mul"},
                    Curve{"hard_swish", "d2 = HardSwish (d1)", "HardSwish"},
                    Curve{"read_elsewhere",
                          "s1 = Sigmoid (d1)\n m1 = Mul (d1, s1)\n d2 = Add (m1, s1)", ""}),
    [](const auto& curve) { return curve.param.name; });

}  // namespace
}  // namespace aoe::tests
