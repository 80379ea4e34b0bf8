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
  EXPECT_EQ(edit_distance("modle", "model"), 1U) << "two letters changed places";
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);
}

TEST(NearNames, NearestFirstAndNoMoreThanAsked) {
  const Names known = {"conv10", "conv1", "pool", "conv2", "/block/conv1/Conv"};
  EXPECT_EQ(near_names("conv1", known), (Names{"conv1", "conv2", "conv10"}));
  EXPECT_EQ(near_names("block/conv", known, 2), (Names{"/block/conv1/Conv"}));
  EXPECT_TRUE(near_names("softmax", known).empty());
  EXPECT_TRUE(near_names("", known).empty());
}

TEST(NearNames, LettersThatChangedPlacesAndBeginsOfLongNames) {
  EXPECT_EQ(near_names("--modle", {"--mode", "--model"}, 1), (Names{"--model"}));
  EXPECT_EQ(near_names("--soc", {"--json", "--soc_version"}, 1), (Names{"--soc_version"}));
}

TEST(NearNames, ReadAsAQuestion) {
  EXPECT_EQ(did_you_mean({}), "");
  EXPECT_EQ(did_you_mean({"a"}), "did you mean a?");
  EXPECT_EQ(did_you_mean({"a", "b", "c"}), "did you mean a, b or c?");
}

}  // namespace
}  // namespace aoe
