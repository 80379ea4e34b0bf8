// What candidates are measured with: values that their operator takes.
#include "tuner/measure/op_bench.h"

#include <gtest/gtest.h>

#include "compiler/impl.h"
#include "tests/compiler/shape_line.h"

namespace aoe::tuner {
namespace {

/// Integers that are drawn are 0 and 1, and of one image there is no second.
TEST(OpBench, DrawsIndicesThatAreThere) {
  const compiler::ShapeLine line = compiler::parse_shape_line(
      "ROIAlign@16 in=1x4x8x8 in=3x4 in=3:int64:below=1 output_height=2 output_width=2");
  const BenchOptions options{.soc = compiler::detect_soc(1), .build = build_op_om};
  const CacheState caches(options.soc, WeightsIn::kL3);
  OpBench bench(line.task, options, caches);
  std::vector<bank::Strategy> strategies;
  for (const compiler::Candidate& candidate : compiler::default_candidates(line.task, options.soc))
    strategies.push_back(strategy_of(candidate));
  ASSERT_FALSE(strategies.empty());
  bench.compile(strategies, [](std::size_t, const Timing& timing) {
    EXPECT_TRUE(timing.ok()) << timing.cause;
  });
  EXPECT_TRUE(bench.measure(0, 0).ok());
}

}  // namespace
}  // namespace aoe::tuner
