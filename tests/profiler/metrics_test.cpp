// Derivations of columns, against values computed by hand.
#include "profiler/export/metrics.h"

#include <gtest/gtest.h>

namespace aoe::profiler {
namespace {

/// 10 us on a machine of 100 GFLOPS and 20 GB/s: at most 1e6 operations and 2e5 bytes.
TaskFigures task() {
  return {.duration_ns = 10'000,
          .flops = 250'000,
          .bytes = 100'000,
          .peak_gflops = 100,
          .memory_gb_s = 20,
          .frequency_mhz = 2000,
          .cores = 2};
}

TEST(Metrics, RatiosAreSharesOfThePeaks) {
  EXPECT_DOUBLE_EQ(*arithmetic_ratio(250'000, task()), 0.25);
  EXPECT_DOUBLE_EQ(*memory_ratio(100'000, task()), 0.5);
  EXPECT_DOUBLE_EQ(*roofline_share(task()), 50);
  EXPECT_DOUBLE_EQ(*analytic_intensity(task()), 2.5);
  // 5 us for memory, 2.5 us for arithmetic.
  EXPECT_DOUBLE_EQ(*analytic_memory_bound(task()), 2);
}

TEST(Metrics, MemoryBoundComparesWithTheBusierUnit) {
  EXPECT_DOUBLE_EQ(*memory_bound(0.6, 0.3, 0.2), 2);
  EXPECT_DOUBLE_EQ(*memory_bound(0.6, 0.3, 1.2), 0.5);
  EXPECT_DOUBLE_EQ(*memory_bound(0.6, std::nullopt, 1.2), 0.5);
  EXPECT_FALSE(memory_bound(0.6, std::nullopt, std::nullopt));
  EXPECT_FALSE(memory_bound(std::nullopt, 0.3, 0.2));
  EXPECT_FALSE(memory_bound(0.6, 0.0, 0.0));
  EXPECT_DOUBLE_EQ(*job_memory_bound(0.1, 0.4, 0.3, 0.2, 0.1), 2);
  EXPECT_FALSE(job_memory_bound({}, {}, {}, {}, {}));
}

TEST(Metrics, CubeUtilizationIsTheShareOfAllCores) {
  // 2 cores of 2000 MHz have 40,000 cycles in 10 us.
  EXPECT_DOUBLE_EQ(*cube_utilization(10'000, task()), 25);
  TaskFigures unknown = task();
  unknown.frequency_mhz.reset();
  EXPECT_FALSE(cube_utilization(10'000, unknown));
}

TEST(Metrics, AreAbsentWithoutAPeakOrADuration) {
  TaskFigures unknown = task();
  unknown.memory_gb_s.reset();
  EXPECT_FALSE(memory_ratio(100'000, unknown));
  EXPECT_FALSE(analytic_memory_bound(unknown));
  EXPECT_DOUBLE_EQ(*roofline_share(unknown), 25);  // of arithmetic alone
  TaskFigures instant = task();
  instant.duration_ns = 0;
  EXPECT_FALSE(arithmetic_ratio(1, instant));
  EXPECT_FALSE(roofline_share(instant));
}

TEST(Metrics, AnUnknownGroupHasTheDefaultColumns) {
  EXPECT_EQ(metric_columns("Custom:0x49"), metric_columns("PipeUtilization"));
  EXPECT_NE(metric_columns("L2Cache"), metric_columns("PipeUtilization"));
}

}  // namespace
}  // namespace aoe::profiler
