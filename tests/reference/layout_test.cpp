// The shared loops: strided walks and broadcasting against index arithmetic, Formats, and the 16-bit types.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "op_runner.h"
#include "reference/tensors/broadcast.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

/// The coordinates of the i-th element in row-major order.
Shape coordinates(std::int64_t i, const Shape& shape) {
  Shape at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; i /= shape[d]) at[d] = i % shape[d];
  return at;
}

std::int64_t offset_at(const Shape& at, const Strides& strides) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < at.size(); ++d) offset += at[d] * strides[d];
  return offset;
}

TEST(StridedWalk, VisitsEveryElementInRowMajorOrder) {
  std::mt19937 random(7);
  const auto any = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 500; ++round) {
    Shape shape;
    std::array<Strides, 2> strides;
    for (int d = any(0, 5); d > 0; --d) shape.push_back(any(1, 4));
    strides[0] = dense_strides(shape);
    for (std::size_t d = 0; d < shape.size(); ++d) strides[1].push_back(any(-3, 3));
    std::int64_t visited = 0;
    for_each_row<2>(shape, strides, [&](auto offsets, auto steps, std::int64_t count) {
      for (std::int64_t k = 0; k < count; ++k, ++visited) {
        const Shape at = coordinates(visited, shape);
        ASSERT_EQ(offsets[0] + k * steps[0], visited) << to_string(shape) << " round " << round;
        ASSERT_EQ(offsets[1] + k * steps[1], offset_at(at, strides[1]))
            << to_string(shape) << " round " << round;
      }
    });
    ASSERT_EQ(visited, element_count(shape)) << "round " << round;
  }
}

TEST(Broadcast, StretchesOnesAndKnowsTheUnknown) {
  constexpr std::int64_t u = kUnknownDim;
  EXPECT_EQ(broadcast_shapes({2, 1}, {3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shapes({}, {3}), (Shape{3}));
  EXPECT_EQ(broadcast_shapes({0}, {1}), (Shape{0}));
  EXPECT_EQ(broadcast_shapes({u, u, u}, {5, 1, u}), (Shape{5, u, u}));
  EXPECT_THROW(broadcast_shapes({2}, {3}), Error);
  EXPECT_THROW(broadcast_shapes({0}, {3}), Error);
}

TEST(ConvertFormat, ReachesEveryFormatAndComesBack) {
  const Shape shapes[] = {{2, 3, 2, 2}, {1, 16, 1, 3}, {2, 17, 5}, {3, 5}, {1, 9, 2, 1, 2}};
  const std::pair<Format, int> layouts[] = {{Format::kND, 0},
                                            {Format::kNCHW, 0},
                                            {Format::kNHWC, 0},
                                            {Format::kNC1HWC0, 8},
                                            {Format::kNC1HWC0, 16}};
  for (const Shape& shape : shapes) {
    std::vector<double> counting(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<double>(i + 1);
    const ConstantPtr original = floats(shape, counting);
    for (const auto& [format, c0] : layouts) {
      for (const auto& [via, via_c0] : layouts) {
        Constant first({DataType::kFloat, shape, format, c0});
        Constant second({DataType::kFloat, shape, via, via_c0});
        Constant back(original->desc());
        convert_format(original->view(), first.view());
        convert_format(first.view(), second.view());
        convert_format(second.view(), back.view());
        EXPECT_EQ(read_as<double>(back.view()), counting)
            << to_string(first.desc()) << " via " << to_string(second.desc());
      }
    }
  }
}

TEST(ConvertFormat, PlacesElementsWhereTheFormatSays) {
  const ConstantPtr x = floats({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6});
  Constant nhwc({DataType::kFloat, {1, 3, 1, 2}, Format::kNHWC});
  convert_format(x->view(), nhwc.view());
  EXPECT_EQ(read_as<double>(nhwc.view()), (std::vector<double>{1, 3, 5, 2, 4, 6}));

  Constant blocked({DataType::kFloat, {1, 3, 1, 2}, Format::kNC1HWC0, 2});
  std::fill_n(static_cast<float*>(blocked.mutable_data()), 8, 99.0f);
  convert_format(x->view(), blocked.view());
  const float* data = static_cast<const float*>(blocked.data());
  EXPECT_EQ(std::vector<float>(data, data + 8), (std::vector<float>{1, 3, 2, 4, 5, 0, 6, 0}));
}

TEST(TransData, IsConvertFormatAsAnOperator) {
  OpCall call{.type = "TransData"};
  call.attrs.set("dst_format", std::string("NHWC"));
  const OpOutput out = run_checked(call, {floats({1, 2, 1, 2}, {1, 2, 3, 4})}).front();
  EXPECT_EQ(out.desc.format, Format::kNHWC);
  EXPECT_EQ(out.values, (std::vector<double>{1, 3, 2, 4}));
}

TEST(Float16, ComesBackFromFloatForAllBitPatterns) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float value = static_cast<float>(half);
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(static_cast<float>(Float16(value))));
    else
      ASSERT_EQ(Float16(value).bits, half.bits) << value;
  }
}

/// Between two neighbours the nearer one wins, and in the very middle the one with an even last bit.
template <typename T>
void check_rounding(std::uint32_t largest_finite) {
  for (std::uint32_t bits = 0; bits < largest_finite; ++bits) {
    T low, high;
    low.bits = static_cast<std::uint16_t>(bits);
    high.bits = static_cast<std::uint16_t>(bits + 1);
    const auto a = static_cast<double>(static_cast<float>(low));
    const auto b = static_cast<double>(static_cast<float>(high));
    const auto middle = static_cast<float>((a + b) / 2);
    ASSERT_EQ(T(middle).bits, bits % 2 == 0 ? low.bits : high.bits) << middle;
    ASSERT_EQ(T(std::nextafter(middle, 0.0f)).bits, low.bits) << middle;
    ASSERT_EQ(T(std::nextafter(middle, INFINITY)).bits, high.bits) << middle;
  }
}

TEST(Float16, RoundsToNearestEven) {
  check_rounding<Float16>(0x7bff);
  EXPECT_EQ(Float16(65519.99f).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Float16(-1e30f).bits, 0xfc00);
}

TEST(BFloat16, RoundsToNearestEven) {
  check_rounding<BFloat16>(0x7f7f);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(NAN))));
}

TEST(Convert, IsDefinedForWhatNoIntegerHolds) {
  EXPECT_EQ(convert<std::int64_t>(1e30), INT64_MAX);
  EXPECT_EQ(convert<std::int64_t>(-1e30), INT64_MIN);
  EXPECT_EQ(convert<std::uint64_t>(1e30), UINT64_MAX);
  EXPECT_EQ(convert<std::uint64_t>(0x1p63), 1ull << 63);
  EXPECT_EQ(convert<std::int32_t>(NAN), 0);
}

}  // namespace
}  // namespace aoe::reference
