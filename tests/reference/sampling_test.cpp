// Quantisation, resampling, Fourier transforms, regions of interest, random numbers: by hand and by properties.
#include <cmath>
#include <limits>

#include "nn_values.h"

namespace aoe::reference {
namespace {

TEST(Quantize, RoundsHalfToEvenAndSaturates) {
  const Values x{{4}, {0.5F, 1.5F, 1000, -1000}}, scale{{}, {1}};
  EXPECT_EQ(call({.type = "Quantize", .version = 10}, {x.tensor(), scale.tensor()}).values[0],
            (Doubles{0, 2, 255, 0}));
}

TEST(Quantize, DequantizeComesBackWithinHalfAScale) {
  const Values x = random_values({3, 4}, 20), scale{{4}, {0.01F, 0.02F, 0.03F, 0.04F}};
  const auto zeros = make_tensor(DataType::kInt8, {4}, {0, 5, -5, 1});
  const auto q = call({.type = "Quantize", .version = 10}, {x.tensor(), scale.tensor(), zeros});
  const auto quantized = make_tensor(DataType::kInt8, {3, 4}, q.values[0]);
  const auto back = call({.type = "Dequantize", .version = 10}, {quantized, scale.tensor(), zeros});
  for (std::size_t i = 0; i < x.data.size(); ++i) {
    if (std::abs(q.values[0][i]) < 127) {
      EXPECT_NEAR(back.values[0][i], x.data[i], scale.data[i % 4] / 2 + 1e-6);
    }
  }
}

class ResizeModeTest : public testing::TestWithParam<const char*> {};

/// Resampling weights sum to one: a constant image stays constant whatever the coordinates.
TEST_P(ResizeModeTest, KeepsAConstantImage) {
  const Values x{{1, 1, 5, 6}, std::vector<float>(30, 7)}, roi{{0}, {}},
      scales{{4}, {1, 1, 1.7F, 0.6F}};
  for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                                  "half_pixel_symmetric"}) {
    for (const std::int64_t antialias : {0, 1}) {
      const Attrs attrs = attrs_of({{"mode", std::string(GetParam())},
                                    {"coordinate_transformation_mode", std::string(coordinates)},
                                    {"antialias", antialias}});
      const auto y = call({.type = "Resize", .version = 11, .attrs = attrs},
                          {x.tensor(), roi.tensor(), scales.tensor()});
      EXPECT_EQ(y.shapes[0], (Shape{1, 1, 8, 3}));
      expect_near(y.values[0], Doubles(24, 7.0));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, ResizeModeTest, testing::Values("nearest", "linear", "cubic"),
                         [](const auto& param) { return std::string(param.param); });

TEST(Resize, SizesKeepTheAspectRatioWhenAsked) {
  const auto x = counting({1, 1, 4, 8}).tensor(), sizes = ints({2}, {6, 6});
  const auto shape_for = [&](const std::string& policy) {
    const Attrs attrs = attrs_of({{"axes", Ints{2, 3}}, {"keep_aspect_ratio_policy", policy}});
    const OpCall op{.type = "Resize", .version = 11, .attrs = attrs};
    return call(op, {x, nullptr, nullptr, sizes}).shapes[0];
  };
  EXPECT_EQ(shape_for("stretch"), (Shape{1, 1, 6, 6}));
  EXPECT_EQ(shape_for("not_larger"), (Shape{1, 1, 3, 6}));
  EXPECT_EQ(shape_for("not_smaller"), (Shape{1, 1, 6, 12}));
}

/// A grid that names every pixel's centre reads the image back.
TEST(GridSample, TheIdentityGridCopies) {
  const Values x = random_values({1, 2, 3, 4}, 21);
  Values grid{{1, 3, 4, 2}, {}};
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 4; ++column) {
      grid.data.push_back((2 * static_cast<float>(column) + 1) / 4 - 1);
      grid.data.push_back((2 * static_cast<float>(row) + 1) / 3 - 1);
    }
  }
  for (const char* mode : {"nearest", "bilinear", "bicubic"}) {
    const auto y = call(
        {.type = "GridSample", .version = 16, .attrs = attrs_of({{"mode", std::string(mode)}})},
        {x.tensor(), grid.tensor()});
    expect_near(y.values[0], {x.data.begin(), x.data.end()}, 1e-5);
  }
}

TEST(Dft, InverseComesBack) {
  const Values x = random_values({1, 12, 3, 2}, 22);
  const auto there = call({.type = "DFT", .version = 17}, {x.tensor()});
  Values spectrum{there.shapes[0], {there.values[0].begin(), there.values[0].end()}};
  const auto back =
      call({.type = "DFT", .version = 17, .attrs = attrs_of({{"inverse", std::int64_t{1}}})},
           {spectrum.tensor()});
  expect_near(back.values[0], {x.data.begin(), x.data.end()}, 1e-5);
}

TEST(Dft, OnesidedIsTheFirstHalf) {
  const Values x = random_values({1, 8, 1}, 23);
  const auto whole = call({.type = "DFT", .version = 17}, {x.tensor()});
  const auto half =
      call({.type = "DFT", .version = 17, .attrs = attrs_of({{"onesided", std::int64_t{1}}})},
           {x.tensor()});
  ASSERT_EQ(half.shapes[0], (Shape{1, 5, 2}));
  expect_near(half.values[0], {whole.values[0].begin(), whole.values[0].begin() + 10});
}

/// The middle of an even line is turned by multiples of pi, whose sine is 0: nothing of a large number is left of it.
TEST(Dft, HalfATurnIsReal) {
  Values x{{1, 64, 1}, std::vector<float>(64)};
  x.data[32] = 1e18F;
  const auto y = call({.type = "DFT", .version = 17}, {x.tensor()});
  for (std::size_t k = 0; k < 64; ++k) {
    EXPECT_EQ(y.values[0][2 * k], k % 2 == 0 ? 1e18F : -1e18F) << k;
    EXPECT_EQ(y.values[0][2 * k + 1], 0) << k;
  }
}

TEST(NonMaxSuppression, OutputShapeIsUnknownUntilValuesAreKnown) {
  const OpCall op{.type = "NonMaxSuppressionV7", .version = 10};
  EXPECT_EQ(inferred_shape(op, {{1, 6, 4}, {1, 1, 6}}), (Shape{kUnknownDim, 3}));
}

TEST(Random, SameSeedSameNumbers) {
  const OpCall op{.type = "RandomNormal",
                  .attrs = attrs_of({{"shape", Ints{1000}}, {"seed", 3.0F}, {"mean", 5.0F}})};
  const auto y = call(op, {});
  EXPECT_EQ(y.values, call(op, {}).values);
  EXPECT_NEAR(std::accumulate(y.values[0].begin(), y.values[0].end(), 0.0) / 1000, 5, 0.2);
}

TEST(Random, MultinomialDrawsOnlyPossibleClasses) {
  const float never = -std::numeric_limits<float>::infinity();
  const Values x{{2, 3}, {never, 0, never, 0, never, 0}};
  const Attrs attrs = attrs_of({{"sample_size", std::int64_t{50}}, {"seed", 1.0F}});
  const auto y = call({.type = "Multinomial", .version = 7, .attrs = attrs}, {x.tensor()});
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(y.values[0][i], 1);
    EXPECT_NE(y.values[0][50 + i], 1);
  }
}

TEST(RoiAlign, AWholeImageInOneBinIsItsMean) {
  const Values x{{1, 1, 2, 2}, {1, 2, 3, 6}}, roi{{1, 4}, {0, 0, 2, 2}};
  const auto images = ints({1}, {0});
  const auto y = call(
      {.type = "ROIAlign", .version = 16, .attrs = attrs_of({{"sampling_ratio", std::int64_t{2}}})},
      {x.tensor(), roi.tensor(), images});
  expect_near(y.values[0], {3});
}

TEST(MaxRoiPool, TakesTheLargestOfEachBin) {
  const Values x = counting({1, 1, 4, 4}), roi{{1, 5}, {0, 0, 0, 3, 3}};
  const auto y = call({.type = "MaxRoiPool", .attrs = attrs_of({{"pooled_shape", Ints{2, 2}}})},
                      {x.tensor(), roi.tensor()});
  EXPECT_EQ(y.values[0], (Doubles{5, 7, 13, 15}));
}

}  // namespace
}  // namespace aoe::reference
