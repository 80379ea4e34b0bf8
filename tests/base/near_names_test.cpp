// Words that are nearly right find what they mean; others find nothing.
#include "base/near_names.h"

#include <gtest/gtest.h>

namespace aoe {
namespace {
using Names = std::vector<std::string>;

TEST(NearNames, DistancesCountSingleLetterChanges) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NearNames, NearestFirstAndNoMoreThanAsked) {
  const Names known = {"conv10", "conv1", "pool", "conv2", "/block/conv1/Conv"};
  EXPECT_EQ(near_names("conv1", known), (Names{"conv1", "conv10", "conv2"}));
  EXPECT_EQ(near_names("block/conv", known, 2), (Names{"/block/conv1/Conv"}));
  EXPECT_TRUE(near_names("softmax", known).empty());
  EXPECT_TRUE(near_names("", known).empty());
}

TEST(NearNames, ReadAsAQuestion) {
  EXPECT_EQ(did_you_mean({}), "");
  EXPECT_EQ(did_you_mean({"a"}), "did you mean a?");
  EXPECT_EQ(did_you_mean({"a", "b", "c"}), "did you mean a, b or c?");
}

}  // namespace
}  // namespace aoe
