// What the tuning section says of ops, also when somebody else wrote it.
#include "runtime/om/om_tuning.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "tests/runtime/om_builder.h"

namespace aoe::runtime::tests {
namespace {
using nlohmann::json;

Om om_with(json nodes) {
  Om om = OmBuilder("m").om;
  om.tuning = {{"nodes", std::move(nodes)}};
  return om;
}

TEST(OmTuning, CountsWhatTheBankHadAndWhatIsOfTheNearestShape) {
  const Om om = om_with({{{"node", "a"}, {"source", "bank"}, {"repo_key", "17"}},
                         {{"node", "b"}, {"source", "near"}, {"near", "3"}},
                         {{"node", "c"}, {"source", "default"}},
                         {{"node", "d"}, {"source", "bank"}, {"repo_key", 18u}}});
  const TunedOps tuned = tuned_ops(om);
  EXPECT_EQ(tuned.ops, 4u);
  EXPECT_EQ(tuned.near, 1u);
  EXPECT_EQ(tuned.bank_keys, (std::vector<std::string>{"17", "18"}));
}

TEST(OmTuning, FieldsOfAnotherTypeCountAsLeftOut) {
  const Om om = om_with(
      {{{"node", 5}, {"impl", {1, 2}}, {"source", true}, {"repo_key", nullptr}}, "no object", 7});
  const std::vector<OpTuning> ops = op_tunings(om.tuning);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].node + ops[0].impl + ops[0].source + ops[0].repo_key, "");
  for (const json& section : {json("text"), json::array({1}), json{{"nodes", "text"}}, json()})
    EXPECT_TRUE(op_tunings(section).empty()) << json_text(section);
}

}  // namespace
}  // namespace aoe::runtime::tests
