// Every Impl on shapes that nobody thought of (shape_draw.h), for one to four threads, each of which has a part of the kernel.
// AOE_FIRST_SEED=n and AOE_SHAPES=n choose others; one seed is
//
//   AOE_FIRST_SEED=4711 AOE_SHAPES=1 aoe_impls_test --gtest_filter='*GeneratedShapes*/0'
#include <gtest/gtest.h>

#include <iostream>

#include "tests/compiler/impl_check.h"
#include "tests/compiler/shape_draw.h"

namespace aoe::compiler {
namespace {

constexpr std::uint32_t kShards = 4;
constexpr std::uint32_t kShapesByDefault = 400;

/// How many Impls took the line.
int check_line(const ShapeLine& line, const Soc& soc, std::uint32_t seed) {
  int taken = 0;
  for (const Impl* impl : impls().all()) {
    if (!impl->supports(line.task, soc)) continue;
    ++taken;
    check_impl(*impl, line, soc, {.sampled_schedules = 1, .seed = seed});
    if (testing::Test::HasFailure()) break;
  }
  return taken;
}

/// Shards, so that CTest runs them side by side.
class GeneratedShapes : public testing::TestWithParam<std::uint32_t> {};

TEST_P(GeneratedShapes, AgreeWithTheReference) {
  const std::vector<std::string> lines = all_shape_lines();
  const std::uint32_t shapes = number_from("AOE_SHAPES", kShapesByDefault);
  const std::uint32_t first = number_from("AOE_FIRST_SEED", 1);
  int checked = 0, kernels = 0, refused = 0;
  for (std::uint32_t seed = first + GetParam(); seed < first + shapes; seed += kShards) {
    ShapeDraw draw(seed);
    const std::optional<ShapeLine> line = draw.line(lines);
    if (!line) {
      ++refused;
      continue;
    }
    SCOPED_TRACE("AOE_FIRST_SEED=" + std::to_string(seed) + " AOE_SHAPES=1");
    const Soc soc = draw.soc(line->task);
    kernels += check_line(*line, soc, seed);
    ++checked;
    if (HasFailure()) return;
  }
  std::cout << checked << " shapes, " << kernels << " times an Impl; " << refused
            << " were none that the operator takes\n";
  if (shapes >= kShapesByDefault) {
    EXPECT_GT(checked, refused / 2);
  }
}
INSTANTIATE_TEST_SUITE_P(Shards, GeneratedShapes, testing::Range(0u, kShards));

}  // namespace
}  // namespace aoe::compiler
