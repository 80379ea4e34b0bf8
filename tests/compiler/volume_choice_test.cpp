// Which Impl carries convolutions over volumes out untuned.
#include <gtest/gtest.h>

#include <limits>

#include "compiler/impl.h"
#include "tests/compiler/machine_code.h"
#include "tests/compiler/shape_line.h"

namespace aoe::compiler {
namespace {

std::string cheapest(const std::string& line) {
  const Soc soc = loopnest::test_socs().back();
  const Task task = parse_shape_line(line).task;
  double least = std::numeric_limits<double>::infinity();
  std::string name;
  for (const Candidate& each : default_candidates(task, soc)) {
    const double ns = each.impl->plan(task, each.format, soc)->estimate_ns(each.schedule);
    if (ns < least) name = each.impl->name();
    least = std::min(least, ns);
  }
  return name;
}

/// The library has no code for blocks of channels that groups cut, or that are mostly padding: it unfolds the windows.
TEST(Volumes, OfGroupsThatCutBlocksOfChannelsAreNative) {
  EXPECT_EQ(cheapest("Conv2D in=1x16x16x28x28 in=16x8x3x3x3:const group=2 pads=[1,1,1,1,1,1]"),
            "native");
  EXPECT_EQ(cheapest("Conv2D in=1x64x8x28x28 in=64x8x3x3x3:const group=8 -> Relu anchor"),
            "native");
  EXPECT_EQ(cheapest("Conv2D in=1x5x16x28x28 in=7x5x3x3x3:const"), "native");
  EXPECT_EQ(cheapest("Conv2D in=1x64x8x28x28 in=64x64x3x3x3:const pads=[1,1,1,1,1,1]"),
            "onednn_volume");
}

}  // namespace
}  // namespace aoe::compiler
