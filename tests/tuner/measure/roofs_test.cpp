// The roofs of this machine: that they are of its order, whatever it is busy with.
#include "tuner/measure/roofs.h"

#include <gtest/gtest.h>

#include <cmath>

namespace aoe::tuner {
namespace {

TEST(Roofs, AreOfTheOrderOfAProcessors) {
  const compiler::Soc soc = compiler::detect_soc(1);
  const bank::Roofs roofs = measure_roofs(soc);
  // A core that starved for most of a run still multiplies more than once a microsecond; none has 1 TB/s or 10 TFLOP/s.
  EXPECT_GT(roofs.peak_gflops, 0.001);
  EXPECT_LT(roofs.peak_gflops, 10000);
  EXPECT_GT(roofs.memory_gb_s, 0.001);
  EXPECT_LT(roofs.memory_gb_s, 1000);
  EXPECT_GT(roofs.peak_gflops, roofs.memory_gb_s / 4) << "a register is nearer than memory";
  EXPECT_EQ(roofs.when_utc.size(), 20U);
}

TEST(Roofs, SeveralThreadsReadTheirOwnParts) {
  const double all = read_gb_s(compiler::detect_soc(3));
  EXPECT_TRUE(std::isfinite(all));
  EXPECT_GT(all, 0.001);
}

}  // namespace
}  // namespace aoe::tuner
