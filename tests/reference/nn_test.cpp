// Convolutions, pools, normalisations and matrix products: small cases checked by hand, and properties that tie
// operators together.
#include <cmath>

#include "base/error.h"
#include "nn_values.h"

namespace aoe::reference {
namespace {

TEST(Conv2D, SumsAWindow) {
  const Values x = counting({1, 1, 3, 3}), ones{{1, 1, 2, 2}, {1, 1, 1, 1}}, bias{{1}, {10}};
  const auto y = call({.type = "Conv2D"}, {x.tensor(), ones.tensor(), bias.tensor()});
  EXPECT_EQ(y.shapes[0], (Shape{1, 1, 2, 2}));
  EXPECT_EQ(y.values[0], (Doubles{0 + 1 + 3 + 4 + 10, 1 + 2 + 4 + 5 + 10, 3 + 4 + 6 + 7 + 10,
                                  4 + 5 + 7 + 8 + 10}));
}

TEST(Conv2D, GroupsAreConvolutionsSideBySide) {
  const Values x = random_values({6, 1, 5, 7}, 1), w = random_values({4, 3, 3, 2}, 2);
  const auto image = [](Values planes) {  // planes along the first axis -> channels of one image
    std::swap(planes.shape[0], planes.shape[1]);
    return planes.tensor();
  };
  const Attrs geometry = attrs_of({{"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 1}}});
  Attrs grouped = geometry;
  grouped.set("group", std::int64_t{2});
  const auto whole = call({.type = "Conv2D", .attrs = grouped}, {image(x), w.tensor()});
  Doubles parts;
  for (std::int64_t g = 0; g < 2; ++g) {
    const Values wg = slice(w, g * 2, g * 2 + 2);
    const auto part = call({.type = "Conv2D", .attrs = geometry},
                           {image(slice(x, g * 3, g * 3 + 3)), wg.tensor()});
    parts.insert(parts.end(), part.values[0].begin(), part.values[0].end());
  }
  EXPECT_EQ(whole.values[0], parts);
}

TEST(Conv2D, DilationIsAKernelWithHoles) {
  const Values x = random_values({1, 2, 9}, 3), w{{1, 2, 2}, {1, 2, 3, 4}};
  const Values holes{{1, 2, 4}, {1, 0, 0, 2, 3, 0, 0, 4}};
  const auto dilated = call({.type = "Conv2D", .attrs = attrs_of({{"dilations", Ints{3}}})},
                            {x.tensor(), w.tensor()});
  EXPECT_EQ(dilated.values, call({.type = "Conv2D"}, {x.tensor(), holes.tensor()}).values);
}

TEST(Conv2D, InfersAroundUnknownDimensions) {
  EXPECT_EQ(inferred_shape({.type = "Conv2D"}, {{kUnknownDim, 3, kUnknownDim, 32}, {8, 3, 3, 3}}),
            (Shape{kUnknownDim, 8, kUnknownDim, 30}));
}

/// <conv(x), y> == <x, conv_transpose(y)> for all x and y: that is what transposing means.
TEST(Conv2DTranspose, IsTheAdjointOfConvolution) {
  const Attrs attrs = attrs_of({{"strides", Ints{2, 3}},
                                {"dilations", Ints{1, 2}},
                                {"pads", Ints{1, 2, 0, 1}},
                                {"group", std::int64_t{2}}});
  const Values x = random_values({1, 4, 6, 11}, 4), w = random_values({6, 2, 3, 3}, 5);
  const auto y = call({.type = "Conv2D", .attrs = attrs}, {x.tensor(), w.tensor()});
  const Values other = random_values(y.shapes[0], 6);
  const auto back = call({.type = "Conv2DTranspose", .attrs = attrs}, {other.tensor(), w.tensor()});
  ASSERT_EQ(back.shapes[0], x.shape);
  const double left =
      std::inner_product(other.data.begin(), other.data.end(), y.values[0].begin(), 0.0);
  const double right =
      std::inner_product(x.data.begin(), x.data.end(), back.values[0].begin(), 0.0);
  EXPECT_NEAR(left, right, 1e-5);
}

TEST(ConvInteger, PadsWithTheZeroPoint) {
  const auto x = make_tensor(DataType::kUint8, {1, 1, 2, 2}, Doubles(4, 5));
  const auto w = make_tensor(DataType::kUint8, {1, 1, 3, 3}, Doubles(9, 1));
  const auto zero = make_tensor(DataType::kUint8, {}, {5});
  const Attrs attrs = attrs_of({{"pads", Ints{1, 1, 1, 1}}});
  const auto y = call({.type = "ConvInteger", .version = 10, .attrs = attrs}, {x, w, zero});
  EXPECT_EQ(y.values[0], Doubles(4, 0.0));
}

TEST(MaxPool, CeilModeAddsTheWindowThatHangsOver) {
  const Values x = counting({1, 1, 4, 4});
  Attrs attrs = attrs_of({{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}});
  EXPECT_EQ(call({.type = "MaxPoolV3", .attrs = attrs}, {x.tensor()}).values[0], (Doubles{10}));
  attrs.set("ceil_mode", std::int64_t{1});
  EXPECT_EQ(call({.type = "MaxPoolV3", .attrs = attrs}, {x.tensor()}).values[0],
            (Doubles{10, 11, 14, 15}));
}

TEST(MaxPool, CeilModeDropsAWindowThatStartsInTheEndPadding) {
  const Attrs attrs = attrs_of({{"kernel_shape", Ints{2}},
                                {"strides", Ints{2}},
                                {"pads", Ints{0, 1}},
                                {"ceil_mode", std::int64_t{1}}});
  EXPECT_EQ(inferred_shape({.type = "MaxPoolV3", .attrs = attrs}, {{1, 1, 4}}), (Shape{1, 1, 2}));
}

TEST(MaxPool, PaddingNeverWins) {
  const Values x{{1, 1, 2}, {-3, -4}};
  const Attrs attrs = attrs_of({{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}});
  EXPECT_EQ(call({.type = "MaxPoolV3", .attrs = attrs}, {x.tensor()}).values[0],
            (Doubles{-3, -3, -4}));
}

TEST(MaxPool, IndicesUnpoolToTheSamePlaces) {
  const Values x = random_values({2, 3, 4, 6}, 7);
  const Attrs attrs = attrs_of({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const auto pooled = call({.type = "MaxPoolV3", .attrs = attrs}, {x.tensor()}, 2);
  for (std::size_t i = 0; i < pooled.values[0].size(); ++i) {
    EXPECT_EQ(pooled.values[0][i], x.data[static_cast<std::size_t>(pooled.values[1][i])]);
  }
}

TEST(MaxPool, ColumnMajorIndicesCountDownTheColumns) {
  const Values x{{1, 1, 2, 2}, {0, 9, 1, 2}};
  const Attrs attrs = attrs_of({{"kernel_shape", Ints{2, 2}}, {"storage_order", std::int64_t{1}}});
  EXPECT_EQ(call({.type = "MaxPoolV3", .attrs = attrs}, {x.tensor()}, 2).values[1], (Doubles{2}));
}

TEST(AveragePool, CountsPaddingOnlyWhenAsked) {
  const Values x{{1, 1, 2}, {6, 12}};
  Attrs attrs = attrs_of({{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}});
  EXPECT_EQ(call({.type = "AvgPoolV2", .attrs = attrs}, {x.tensor()}).values[0], (Doubles{9, 9}));
  attrs.set("count_include_pad", std::int64_t{1});
  EXPECT_EQ(call({.type = "AvgPoolV2", .attrs = attrs}, {x.tensor()}).values[0], (Doubles{6, 6}));
}

TEST(AveragePool, WhatHangsOverThePaddingDoesNotCount) {
  const Values x{{1, 1, 3}, {1, 2, 3}};
  const Attrs attrs = attrs_of({{"kernel_shape", Ints{2}},
                                {"strides", Ints{2}},
                                {"ceil_mode", std::int64_t{1}},
                                {"count_include_pad", std::int64_t{1}}});
  EXPECT_EQ(call({.type = "AvgPoolV2", .attrs = attrs}, {x.tensor()}).values[0], (Doubles{1.5, 3}));
}

TEST(GlobalAveragePool, IsAWindowOverEverything) {
  const Values x = random_values({2, 3, 4, 5}, 8);
  const auto global = call({.type = "GlobalAveragePool"}, {x.tensor()});
  const Attrs attrs = attrs_of({{"kernel_shape", Ints{4, 5}}});
  expect_near(global.values[0],
              call({.type = "AvgPoolV2", .attrs = attrs}, {x.tensor()}).values[0]);
}

TEST(Softmax, BeforeOpset13FlattensBehindTheAxis) {
  const Values x = random_values({2, 3, 4}, 9), flat{{2, 12}, x.data};
  const Attrs axis = attrs_of({{"axis", std::int64_t{1}}});
  const auto old = call({.type = "SoftmaxV2", .version = 1, .attrs = axis}, {x.tensor()});
  EXPECT_EQ(old.values,
            call({.type = "SoftmaxV2", .version = 13, .attrs = axis}, {flat.tensor()}).values);
}

TEST(Softmax, SurvivesLargeNumbers) {
  const Values x{{1, 2}, {1000, 1000}};
  EXPECT_EQ(call({.type = "SoftmaxV2", .version = 13}, {x.tensor()}).values[0],
            (Doubles{0.5, 0.5}));
}

TEST(LayerNorm, GivesMeanZeroAndVarianceOne) {
  const Values x = random_values({3, 8}, 10), ones{{8}, std::vector<float>(8, 1)};
  const auto y = call({.type = "LayerNorm", .version = 17, .attrs = attrs_of({{"epsilon", 0.0F}})},
                      {x.tensor(), ones.tensor()}, 3);
  for (std::size_t row = 0; row < 3; ++row) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const double value = y.values[0][row * 8 + i];
      sum += value;
      squares += value * value;
      EXPECT_NEAR(value, (x.data[row * 8 + i] - y.values[1][row]) * y.values[2][row], 1e-5);
    }
    EXPECT_NEAR(sum, 0, 1e-5);
    EXPECT_NEAR(squares, 8, 1e-4);
  }
}

TEST(GroupNorm, OneGroupPerChannelIsInstanceNorm) {
  const Values x = random_values({2, 4, 3, 3}, 11), scale = random_values({4}, 12),
               bias = random_values({4}, 13);
  const auto group = call(
      {.type = "GroupNorm", .version = 21, .attrs = attrs_of({{"num_groups", std::int64_t{4}}})},
      {x.tensor(), scale.tensor(), bias.tensor()});
  EXPECT_EQ(group.values,
            call({.type = "InstanceNorm"}, {x.tensor(), scale.tensor(), bias.tensor()}).values);
}

TEST(BatchNorm, MatchesTheFormula) {
  const Values x{{1, 2, 1}, {3, 5}}, scale{{2}, {2, 1}}, bias{{2}, {1, 0}}, mean{{2}, {1, 4}},
      variance{{2}, {4, 1}};
  const auto y =
      call({.type = "BatchNorm", .version = 9, .attrs = attrs_of({{"epsilon", 0.0F}})},
           {x.tensor(), scale.tensor(), bias.tensor(), mean.tensor(), variance.tensor()});
  EXPECT_EQ(y.values[0], (Doubles{3, 1}));
}

TEST(MatMul, BroadcastsAStackAgainstAMatrix) {
  const Values a{{2, 1, 2}, {1, 2, 3, 4}}, b{{2, 2}, {1, 10, 100, 1000}};
  const auto y = call({.type = "MatMulV2"}, {a.tensor(), b.tensor()});
  EXPECT_EQ(y.shapes[0], (Shape{2, 1, 2}));
  EXPECT_EQ(y.values[0], (Doubles{201, 2010, 403, 4030}));
}

TEST(MatMul, VectorsLoseTheirAxis) {
  const Values a{{3}, {1, 2, 3}};
  const auto y = call({.type = "MatMulV2"}, {a.tensor(), a.tensor()});
  EXPECT_EQ(y.shapes[0], Shape{});
  EXPECT_EQ(y.values[0], (Doubles{14}));
}

TEST(MatMul, IsExactInSixtyFourBits) {
  const auto a = ints({1, 2}, {0x1p60, 1}), b = ints({2, 1}, {1, 1});
  std::int64_t y = 0;
  const std::vector<Tensor> inputs = {a->view(), b->view()};
  const Tensor output{{.dtype = DataType::kInt64, .shape = {1, 1}}, &y};
  run({.type = "MatMulV2"}, inputs, std::vector{output});
  EXPECT_EQ(y, (std::int64_t{1} << 60) + 1);
}

TEST(Gemm, TransposesScalesAndAdds) {
  const Values a{{2, 1}, {1, 2}}, b{{3, 2}, {1, 2, 3, 4, 5, 6}}, c{{1}, {100}};
  const Attrs attrs = attrs_of(
      {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}, {"alpha", 2.0F}, {"beta", 0.5F}});
  EXPECT_EQ(call({.type = "Gemm", .attrs = attrs}, {a.tensor(), b.tensor(), c.tensor()}).values[0],
            (Doubles{60, 72, 84}));
}

TEST(Einsum, KnowsDiagonalsEllipsesAndImplicitOutputs) {
  const Values x{{2, 2}, {1, 2, 3, 4}};
  const auto einsum = [&](const std::string& equation, const std::vector<ConstantPtr>& inputs) {
    return call({.type = "Einsum", .version = 12, .attrs = attrs_of({{"equation", equation}})},
                inputs)
        .values[0];
  };
  EXPECT_EQ(einsum("ii", {x.tensor()}), (Doubles{5}));
  EXPECT_EQ(einsum("ii->i", {x.tensor()}), (Doubles{1, 4}));
  EXPECT_EQ(einsum("ba", {x.tensor()}), (Doubles{1, 3, 2, 4}));
  EXPECT_EQ(einsum("...i,...i->...", {x.tensor(), x.tensor()}), (Doubles{5, 25}));
  EXPECT_EQ(einsum("ij,jk", {x.tensor(), x.tensor()}), (Doubles{7, 10, 15, 22}));
}

TEST(Det, PivotsOnZero) {
  const Values x{{2, 2}, {0, 1, 1, 0}};
  EXPECT_EQ(call({.type = "Det", .version = 11}, {x.tensor()}).values[0], (Doubles{-1}));
}

struct Contradiction {
  const char* name;
  OpCall op;
  std::vector<Shape> shapes;
};

void PrintTo(const Contradiction& contradiction, std::ostream* out) {
  *out << contradiction.name;
}

class RefusalTest : public testing::TestWithParam<Contradiction> {};

TEST_P(RefusalTest, ThrowsAModelError) {
  try {
    inferred_shape(GetParam().op, GetParam().shapes);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kModel) << e.what();
  }
}

const Contradiction kContradictions[] = {
    {"ConvChannels", {.type = "Conv2D"}, {{1, 3, 4, 4}, {2, 2, 1, 1}}},
    {"ConvGroups",
     {.type = "Conv2D", .attrs = attrs_of({{"group", std::int64_t{2}}})},
     {{1, 4, 4}, {3, 2, 1}}},
    {"ConvBias", {.type = "Conv2D"}, {{1, 3, 4, 4}, {2, 3, 1, 1}, {3}}},
    {"ConvKernelTooLarge", {.type = "Conv2D"}, {{1, 1, 2, 2}, {1, 1, 3, 3}}},
    {"ConvStrideCount",
     {.type = "Conv2D", .attrs = attrs_of({{"strides", Ints{1}}})},
     {{1, 1, 2, 2}, {1, 1, 1, 1}}},
    {"ConvTransposeBias", {.type = "Conv2DTranspose"}, {{1, 3, 4, 4}, {3, 2, 1, 1}, {3}}},
    {"PoolWithoutKernel", {.type = "MaxPoolV3"}, {{1, 1, 4, 4}}},
    {"BatchNormMean", {.type = "BatchNorm"}, {{1, 3, 4}, {3}, {3}, {2}, {3}}},
    {"MatMulInner", {.type = "MatMulV2"}, {{2, 3}, {4, 2}}},
    {"MatMulBatch", {.type = "MatMulV2"}, {{2, 1, 3}, {3, 3, 2}}},
    {"GemmBias", {.type = "Gemm"}, {{2, 3}, {3, 4}, {3}}},
    {"EinsumLabels",
     {.type = "Einsum", .attrs = attrs_of({{"equation", std::string("ij,jk")}})},
     {{2, 3}, {4, 2}}},
    {"DetNotSquare", {.type = "Det"}, {{2, 3}}},
    {"LstmWeights", {.type = "DynamicRNN"}, {{4, 1, 3}, {1, 8, 2}, {1, 8, 2}}},
    {"LstmInitialState",
     {.type = "DynamicRNN"},
     {{4, 1, 3}, {1, 8, 3}, {1, 8, 2}, {1, 16}, {1}, {1, 2, 2}}},
    {"SoftmaxAxis",
     {.type = "SoftmaxV2", .version = 13, .attrs = attrs_of({{"axis", std::int64_t{2}}})},
     {{2, 3}}},
    {"GridAxes", {.type = "GridSample"}, {{1, 1, 4, 4}, {1, 2, 2, 3}}},
    {"RoiWidth", {.type = "ROIAlign"}, {{1, 1, 4, 4}, {2, 5}, {2}}},
    {"ResizeWithoutSize", {.type = "Resize", .version = 11}, {{1, 1, 4, 4}}},
};

INSTANTIATE_TEST_SUITE_P(Contradictions, RefusalTest, testing::ValuesIn(kContradictions),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace aoe::reference
