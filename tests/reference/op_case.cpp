// Runs a table row of the operator tests and compares shape and values.
#include "op_case.h"

#include <cmath>

namespace aoe::reference {

void check(const OpCase& test) {
  OpCall call{.type = test.type, .version = test.version};
  for (const auto& [name, value] : test.attrs) call.attrs.set(name, value);
  const OpOutput output = run_checked(call, test.inputs).front();
  EXPECT_EQ(to_string(output.desc.shape), to_string(test.shape));
  ASSERT_EQ(output.values.size(), test.values.size());
  for (std::size_t i = 0; i < test.values.size(); ++i) {
    const double wanted = test.values[i];
    if (std::isnan(wanted))
      EXPECT_TRUE(std::isnan(output.values[i])) << "element " << i << " is " << output.values[i];
    else if (std::isinf(wanted))
      EXPECT_EQ(output.values[i], wanted) << "element " << i;
    else
      EXPECT_NEAR(output.values[i], wanted, 1e-6 * std::abs(wanted)) << "element " << i;
  }
}

}  // namespace aoe::reference
