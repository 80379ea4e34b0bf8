// Slices of the trips of a loop, stacked.
#include "runtime/collected_slices.h"

#include <gtest/gtest.h>

#include <vector>

namespace aoe::runtime {
namespace {

TensorDesc slice_of(Shape shape) {
  return {.dtype = DataType::kFloat, .shape = std::move(shape)};
}

/// Slice `i` of shape 2x3 has 6 i and what follows.
CollectedSlices collected(std::int64_t count) {
  CollectedSlices slices(slice_of({2, 3}));
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<float> values(6);
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = static_cast<float>(6 * i + static_cast<std::int64_t>(k));
    EXPECT_TRUE(slices.add({slice_of({2, 3}), values.data()}));
  }
  return slices;
}

std::vector<float> all_of(const CollectedSlices& slices, std::size_t axis, bool is_reversed) {
  std::vector<float> all(static_cast<std::size_t>(element_count(slices.stacked(axis).shape)));
  slices.stack(all.data(), axis, is_reversed);
  return all;
}

TEST(CollectedSlices, StackAlongEachAxisAndBackwards) {
  const CollectedSlices two = collected(2);
  EXPECT_EQ(two.stacked(1).shape, (Shape{2, 2, 3}));
  EXPECT_EQ(all_of(two, 0, false), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(all_of(two, 0, true), (std::vector<float>{6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(all_of(two, 1, false), (std::vector<float>{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}));
  EXPECT_EQ(all_of(two, 2, true), (std::vector<float>{6, 0, 7, 1, 8, 2, 9, 3, 10, 4, 11, 5}));
}

TEST(CollectedSlices, StayInOrderOverManyBlocks) {
  constexpr std::int64_t kMany = 200000;  // of 24 bytes: several megabytes
  const CollectedSlices many = collected(kMany);
  EXPECT_LT(many.memory_bytes(), kMany * 24 * 5 / 4);
  const std::vector<float> all = all_of(many, 0, false);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<float>(i));
}

TEST(CollectedSlices, OfNoTripAreEmptyAndOfOtherShapesNotTaken) {
  CollectedSlices none(slice_of({kUnknownDim, 3}));
  EXPECT_EQ(none.stacked(0).shape, (Shape{0, 0, 3}));
  none.stack(nullptr, 0, false);
  float values[6] = {};
  EXPECT_TRUE(none.add({slice_of({2, 3}), values}));
  EXPECT_FALSE(none.add({slice_of({1, 3}), values}));
  EXPECT_EQ(none.count(), 1);
}

}  // namespace
}  // namespace aoe::runtime
