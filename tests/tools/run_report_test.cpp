// Percentiles and medians, apart from any clock.
#include "tools/aoe_run/run_report.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/runtime/om_builder.h"

namespace aoe::tools {
namespace {

TEST(Percentile, IsTheLeastThatSoManyAreNotAbove) {
  std::vector<double> hundred(100);
  std::iota(hundred.begin(), hundred.end(), 1.0);
  EXPECT_EQ(percentile(hundred, 50), 50);
  EXPECT_EQ(percentile(hundred, 99), 99);
  const std::vector<double> few = {1, 2, 3};
  EXPECT_EQ(percentile(few, 50), 2);
  EXPECT_EQ(percentile(few, 90), 3);
  EXPECT_EQ(percentile({7}, 99), 7);
}

/// Two steps; the first has one run that was interrupted for long.
TEST(StepTimes, AnOutlierMakesNoOpTheSlowest) {
  runtime::tests::OmBuilder b("m");
  const int x = b.input("x", runtime::tests::floats({2}));
  const int y = b.arena("y", runtime::tests::floats({2}));
  b.reference("Relu", {x}, {y});
  b.reference("Sigmoid", {y}, {b.output("z", runtime::tests::floats({2}))});
  b.om.steps[1].flops = 500;
  b.om.steps[1].bytes = 10;
  b.om.peak_gflops = 1;  // one operation a nanosecond
  b.om.memory_gb_s = 1;
  StepTimes times({&b.om}, 0);
  const double ticks_per_ns = 1e9 / profiler::to_ns(1'000'000'000);
  const auto event = [ticks_per_ns](std::uint32_t step, double ns) {
    profiler::Event task{};
    task.kind = profiler::EventKind::kTask;
    task.value = step;
    task.end_ticks = static_cast<std::uint64_t>(ns * ticks_per_ns);
    return task;
  };
  for (const double first_ns : {100.0, 24e6, 110.0})
    times.add_run({event(0, first_ns), event(1, 1000)});
  const std::vector<OpTime> ops = times.ops();
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops[0].type, "Sigmoid");
  EXPECT_NEAR(ops[0].median_ns, 1000, 5);
  EXPECT_NEAR(ops[1].median_ns, 110, 5);
  EXPECT_NEAR(ops[0].share, 1000.0 / 1110, 0.01);
  ASSERT_TRUE(ops[0].roofline);
  EXPECT_NEAR(*ops[0].roofline, 0.5, 0.01) << "500 operations in 1000 ns";
}

/// A loop and the one op of its body, which runs three times.
TEST(StepTimes, AnOpOfABodyCountsWithAllItsTrips) {
  runtime::tests::OmBuilder body("body"), b("m");
  const int x = body.input("x", runtime::tests::floats({2}));
  body.reference("Relu", {x}, {body.output("y", runtime::tests::floats({2}))}).flops = 100;
  body.reference("Neg", {x}, {body.output("z", runtime::tests::floats({2}))});
  const std::string file = body.om.serialize();
  const auto bytes = static_cast<std::int64_t>(file.size());
  const int constant = b.weight<char>("body", {.dtype = DataType::kUint8, .shape = {bytes}},
                                      {file.begin(), file.end()});
  b.reference("Loop", {}, {}).backend = &runtime::backend("control");
  b.om.steps[0].constants = {constant};
  b.om.steps[0].name = "loop";
  b.om.peak_gflops = 1;
  b.om.memory_gb_s = 1;
  StepTimes times({&b.om}, 0);
  const double ticks_per_ns = 1e9 / profiler::to_ns(1'000'000'000);
  const auto event = [ticks_per_ns](std::uint32_t op, double ns) {
    profiler::Event task{};
    task.kind = profiler::EventKind::kTask;
    task.value = op;
    task.end_ticks = static_cast<std::uint64_t>(ns * ticks_per_ns);
    return task;
  };
  times.add_run({event(0, 50), event(1, 200), event(0, 50), event(1, 200), event(1, 200)});
  const std::vector<OpTime> ops = times.ops();
  ASSERT_EQ(ops.size(), 2U) << "Neg did not run";
  EXPECT_EQ(ops[0].name, "loop/step0_Relu");
  EXPECT_NEAR(ops[0].median_ns, 600, 5);
  EXPECT_EQ(ops[0].flops, 300);
  ASSERT_TRUE(ops[0].roofline);
  EXPECT_NEAR(*ops[0].roofline, 0.5, 0.01);
  EXPECT_EQ(ops[1].name, "loop");
  EXPECT_NEAR(ops[1].median_ns, 100, 5);
}

}  // namespace
}  // namespace aoe::tools
