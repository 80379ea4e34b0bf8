// Errors read as one line; results hold a value or a reason; broken invariants say where.
#include "base/error.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/result.h"

namespace aoe {
namespace {

TEST(Error, IsOneLineWithPlaceAndAdvice) {
  const Error full(ExitCode::kModel, "is truncated\nat\033byte 3", "m.onnx", "export it again");
  EXPECT_STREQ(full.what(), "m.onnx: is truncated at byte 3; export it again");
  EXPECT_EQ(full.code(), ExitCode::kModel);
  EXPECT_STREQ(Error(ExitCode::kUsage, "unknown flag --x").what(), "unknown flag --x");
}

TEST(Result, HoldsAValueOrAReason) {
  const Result<int> yes = 3;
  EXPECT_TRUE(yes);
  EXPECT_EQ(*yes, 3);
  const Result<int> no = Unexpected("3 channels, needs at least 8");
  EXPECT_FALSE(no);
  EXPECT_EQ(no.error(), "3 channels, needs at least 8");
  EXPECT_EQ(no.value_or(7), 7);
  EXPECT_THROW((void)no.value(), InternalError);
  EXPECT_TRUE(Result<void>());
  EXPECT_EQ(Result<void>(Unexpected("why")).error(), "why");
}

TEST(Check, FailureNamesConditionMessageAndPlace) {
  try {
    AOE_CHECK(1 + 1 == 3, "sum is " + std::to_string(2));
    FAIL() << "passed";
  } catch (const InternalError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("error_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("sum is 2"), std::string::npos) << text;
    EXPECT_NE(text.find("1 + 1 == 3"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace aoe
