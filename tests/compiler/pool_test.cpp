// Poolings of images that hold NaNs and infinities, against the reference.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/compiler/impl_check.h"
#include "tests/compiler/machine_code.h"
#include "tests/compiler/shape_line.h"

namespace aoe::compiler {
namespace {

TEST(Pool, NaNsReachTheWindowsThatHoldThem) {
  constexpr unsigned kSeed = 3;
  std::mt19937 random(kSeed);
  for (const char* text :
       {"MaxPoolV3 in=1x17x12x15 kernel_shape=[3,3] strides=[2,2]",
        "MaxPoolV3 in=2x16x9x11 kernel_shape=[3,3] pads=[1,1,1,1]",
        "MaxPoolV3 in=1x16x8x10 kernel_shape=[2,2] strides=[2,2]",
        "MaxPoolV3 in=1x5x9x20 kernel_shape=[4,5] strides=[1,2] dilations=[2,1] pads=[1,2,0,2]",
        "AvgPoolV2 in=1x16x9x11 kernel_shape=[3,3] pads=[1,1,1,1]"}) {
    ShapeLine line = parse_shape_line(text);
    const Tensor x = line.inputs[0]->view();
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      float& value = x.as<float>()[i];
      if (random() % 12 == 0) value = std::numeric_limits<float>::quiet_NaN();
      if (random() % 12 == 0) value = -std::numeric_limits<float>::infinity();
    }
    for (const Soc& soc : loopnest::planned_socs(false))
      check_impl(*impls().find("pool"), line, soc);
  }
}

/// How much code `pool` makes of it, in letters; 0 where it refuses.
std::size_t code_of(const std::string& text) {
  const ShapeLine line = parse_shape_line(text);
  const Soc& soc = loopnest::test_socs().back();
  const Impl& pool = *impls().find("pool");
  if (!pool.supports(line.task, soc)) return 0;
  const auto plan = pool.plan(line.task, pool.formats(line.task, soc).front(), soc);
  return to_text(plan->build(plan->heuristic()).stages.at(0)).size();
}

/// A mutant with a million columns of it compiled for minutes.
TEST(Pool, CodeDoesNotGrowWithPadding) {
  for (const std::string type : {"MaxPoolV3", "AvgPoolV2"}) {
    const std::string line = type + " in=1x16x3x4 kernel_shape=[1,2] pads=[0,";
    EXPECT_LT(code_of(line + "9000,0,9000]"), code_of(line + "9,0,9]") + 200);
  }
}

TEST(Pool, WideWindowsAtBordersAreLeftToOthers) {
  EXPECT_GT(code_of("MaxPoolV3 in=1x16x3x40 kernel_shape=[3,13] pads=[1,6,1,6]"), 0u);
  EXPECT_EQ(code_of("MaxPoolV3 in=1x16x3x4000 kernel_shape=[3,999] pads=[1,499,1,499]"), 0u);
}

}  // namespace
}  // namespace aoe::compiler
