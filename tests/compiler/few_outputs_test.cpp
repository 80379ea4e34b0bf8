// The last layers of networks that give images: convolutions with less than a vector of output channels, for which oneDNN's code
// has little to do with what it loads.
#include <gtest/gtest.h>

#include "compiler/impl.h"
#include "tests/compiler/shape_line.h"

namespace aoe::compiler {
namespace {

double least_ns(const std::string& line, bool of_onednn) {
  const Task task = parse_shape_line(line).task;
  const Soc soc = detect_soc();
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& each : default_candidates(task, soc)) {
    const bool is_onednn = each.impl->name().starts_with("onednn");
    const auto plan = each.impl->plan(task, each.format, soc);
    if (is_onednn == of_onednn) least = std::min(least, plan->estimate_ns(each.schedule));
  }
  return least;
}

TEST(FewOutputs, AreNotLeftToOneDnn) {
  for (const char* channels : {"1", "3"}) {
    const std::string line =
        "Conv2D in=1x64x64x64 in=" + std::string(channels) + "x64x3x3:const pads=[1,1,1,1]";
    EXPECT_LT(least_ns(line, false), least_ns(line, true)) << line;
  }
}

}  // namespace
}  // namespace aoe::compiler
