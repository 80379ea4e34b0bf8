// The gate for wrong kernels: what a right one may differ by passes, a small mistake does not.
#include "tuner/measure/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random_tensor.h"
#include "compiler/impl.h"

namespace aoe::tuner {
namespace {

Tensor view(std::vector<float>& values) {
  return {{DataType::kFloat, {static_cast<std::int64_t>(values.size())}, Format::kND, 0},
          values.data()};
}

bool agree(std::vector<float> a, std::vector<float> b, double reduction = 100) {
  return compare(view(a), view(b), {.reduction_length = reduction}).has_value();
}

TEST(Verify, RoundingPassesMistakesDoNot) {
  EXPECT_TRUE(agree({1, -2, 3}, {1.000001f, -2, 3}));
  EXPECT_FALSE(agree({1, -2, 3}, {1.01f, -2, 3}));
  EXPECT_FALSE(agree({1, -2, 3}, {-2, 1, 3}));
  EXPECT_FALSE(agree({1, -2, 3}, {0, 0, 0}));
}

TEST(Verify, AMissingTermOfALongSumIsSeen) {
  // 4096 products of values in [-1, 1]: the sum is near sqrt(4096)/3, one term is near 0.25.
  const double sum = std::sqrt(4096.0) / 3;
  constexpr double growth = compiler::kMostErrorGrowth;
  EXPECT_LT(
      tolerance(DataType::kFloat, {.reduction_length = 4096, .error_growth = growth}) * sum * 3,
      0.25);
}

TEST(Verify, AllowsAnImplWhatItStates) {
  // 100 products: plain sums may be off by 80 units of the last place of 3, Winograd's by 640.
  std::vector<float> expected = {1, -2, 3}, off = {1.0001f, -2, 3};
  const auto passes = [&](const char* impl) {
    return compare(view(expected), view(off),
                   {.reduction_length = 100,
                    .error_growth = compiler::impls().find(impl)->error_growth({})})
        .has_value();
  };
  EXPECT_TRUE(passes("winograd_f43"));
  EXPECT_FALSE(passes("direct"));
}

TEST(Verify, NanAndInfinityMustAgree) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(agree({nan, inf, 1}, {nan, inf, 1}));
  EXPECT_FALSE(agree({nan, 1}, {0, 1}));
  EXPECT_FALSE(agree({0, 1}, {nan, 1}));
  EXPECT_FALSE(agree({inf, 1}, {-inf, 1}));
}

TEST(Verify, SaysWhichElement) {
  std::vector<float> a = {1, 2, 3};
  std::vector<float> b = {1, 2, 4};
  EXPECT_NE(compare(view(a), view(b), {}).error().find("element 2 is 4"), std::string::npos);
}

TEST(Verify, IntegersMustBeEqual) {
  std::int64_t a[] = {1, 1L << 40};
  std::int64_t b[] = {1, (1L << 40) + 1};
  const TensorDesc desc{DataType::kInt64, {2}, Format::kND, 0};
  EXPECT_TRUE(compare({desc, a}, {desc, a}, {}));
  EXPECT_FALSE(compare({desc, a}, {desc, b}, {}));
}

TEST(RandomTensor, IsReproducibleInRangeAndNeverConstant) {
  for (const DataType type :
       {DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kBFloat16,
        DataType::kInt8, DataType::kInt32, DataType::kInt64, DataType::kBool}) {
    const TensorDesc desc{type, {100}, Format::kND, 0};
    const ConstantPtr a = random_tensor(desc, 7);
    const ConstantPtr b = random_tensor(desc, 7);
    const ConstantPtr c = random_tensor(desc, 8);
    EXPECT_EQ(std::memcmp(a->data(), b->data(), a->size_bytes()), 0) << name(type);
    EXPECT_NE(std::memcmp(a->data(), c->data(), a->size_bytes()), 0) << name(type);
  }
  const ConstantPtr scaled = random_tensor({DataType::kFloat, {1000}, Format::kND, 0}, 1, 2, 3);
  for (int i = 0; i < 1000; ++i) {
    const float value = scaled->view().as<float>()[i];
    EXPECT_TRUE(value >= 2 && value <= 3);
  }
}

}  // namespace
}  // namespace aoe::tuner
