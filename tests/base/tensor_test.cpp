// Sizes of tensors in their formats.
#include "base/tensor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/check.h"
#include "base/tensor_error.h"

namespace aoe {
namespace {

TEST(Tensor, StorageBytesByFormat) {
  struct Case {
    const char* name;
    TensorDesc desc;
    std::size_t bytes;
  };
  const Case cases[] = {
      {"scalar", {DataType::kFloat, {}, Format::kND}, 4},
      {"empty", {DataType::kInt64, {2, 0, 3}, Format::kND}, 0},
      {"dense", {DataType::kFloat16, {2, 3, 4, 5}, Format::kNCHW}, 240},
      {"channels last", {DataType::kFloat, {1, 3, 4, 5}, Format::kNHWC}, 240},
      {"blocked, padded to 16 lanes", {DataType::kFloat, {1, 3, 4, 5}, Format::kNC1HWC0, 16}, 1280},
      {"blocked, exact", {DataType::kFloat, {2, 32, 1, 1}, Format::kNC1HWC0, 16}, 256},
      {"blocked by 8", {DataType::kFloat, {1, 9, 2, 1}, Format::kNC1HWC0, 8}, 128},
  };
  for (const Case& c : cases) EXPECT_EQ(storage_bytes(c.desc), c.bytes) << c.name;
}

TEST(Tensor, UnknownDimensionsHaveNoSize) {
  const TensorDesc desc{DataType::kFloat, {kUnknownDim, 3}, Format::kND};
  EXPECT_FALSE(is_static(desc.shape));
  EXPECT_THROW((void)storage_bytes(desc), InternalError);
  EXPECT_EQ(to_string(desc), "float32 ?x3 ND");
}

TEST(Tensor, NamesOfTypesAndFormatsRoundTrip) {
  for (const DataType type :
       {DataType::kFloat, DataType::kFloat16, DataType::kInt8, DataType::kInt32, DataType::kUint8,
        DataType::kInt16, DataType::kUint16, DataType::kUint32, DataType::kInt64, DataType::kUint64,
        DataType::kDouble, DataType::kBool, DataType::kBFloat16})
    EXPECT_EQ(data_type_from_name(name(type)), type);
  for (const Format format : {Format::kND, Format::kNCHW, Format::kNHWC, Format::kNC1HWC0})
    EXPECT_EQ(format_from_name(name(format)), format);
  EXPECT_FALSE(format_from_name("nchw"));
}

TEST(Constant, OwnsAlignedCopies) {
  float values[] = {1, 2, 3};
  const Constant constant({DataType::kFloat, {3}, Format::kND}, values);
  values[0] = 9;
  EXPECT_EQ(constant.view().as<float>()[0], 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(constant.data()) % 64, 0U);
  EXPECT_EQ(constant.size_bytes(), 12U);
}

TEST(TensorError, IsAShareOfTheRangeAndShowsWhatIsNoNumber) {
  const auto error = [](std::vector<float> exact, std::vector<float> other) {
    const TensorDesc desc{DataType::kFloat, {3}, Format::kND};
    return error_of_range({desc, exact.data()}, {desc, other.data()});
  };
  const float nan = std::nanf("");
  EXPECT_EQ(error({-2, 0, 2}, {-2, 1, 2}), 0.25);
  EXPECT_EQ(error({1, 1, 1}, {1, 1, 1}), 0);
  EXPECT_TRUE(std::isnan(error({-2, 0, 2}, {-2, nan, 2})));
  EXPECT_EQ(error({-2, nan, 2}, {-1, nan, 2}), 0.25);
}

}  // namespace
}  // namespace aoe
