// A pass, or some, on a graph made for it: the text it leaves (golden/<name>.txt) and the meaning it keeps. AOE_UPDATE_GOLDEN=1 rewrites
// the golden files; review the difference.
#pragma once

#include <gtest/gtest.h>

#include <iosfwd>
#include <string>

namespace aoe::tests {

struct PassCase {
  const char* name;
  const char* pass;  ///< or some, one behind the other, between spaces
  const char* model;
  int opset = 13;
};

void PrintTo(const PassCase& c, std::ostream* out);

/// Has one test, LeavesTheGoldenTextAndKeepsTheMeaning; the cases are instantiated where they stand.
class EachPass : public testing::TestWithParam<PassCase> {};

std::string name_of_case(const testing::TestParamInfo<PassCase>& tested);

}  // namespace aoe::tests
