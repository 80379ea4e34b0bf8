#include "base/ceil_div.h"

#include <gtest/gtest.h>

namespace aoe {
namespace {

TEST(CeilDiv, RoundsTowardsMoreBelowZeroToo) {
  EXPECT_EQ(ceil_div(7, 4), 2);
  EXPECT_EQ(ceil_div(8, 4), 2);
  EXPECT_EQ(ceil_div(0, 4), 0);
  EXPECT_EQ(ceil_div(-3, 2), -1);
  EXPECT_EQ(ceil_div(-4, 2), -2);
  EXPECT_EQ(round_up(-7, 4), -4);
}

TEST(CeilDiv, OfBytesIsOfTheirType) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 63;
  EXPECT_EQ(ceil_div(kMany, 4096), kMany / 4096);
  EXPECT_EQ(round_up(kMany + 1, 4096), kMany + 4096);
}

}  // namespace
}  // namespace aoe
