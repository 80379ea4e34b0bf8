// Every Impl on shapes that nobody thought of (shape_draw.h), for one to four threads, each of which has a part of the kernel.
// AOE_FIRST_SEED=n and AOE_SHAPES=n choose others; one seed is
//
//   AOE_FIRST_SEED=4711 AOE_SHAPES=1 aoe_impls_test --gtest_filter='*GeneratedShapes*/0'
#include <gtest/gtest.h>

#include "tests/compiler/shape_draw.h"

namespace aoe::compiler {
namespace {

using tests::Seeds;

class GeneratedShapes : public testing::TestWithParam<std::uint32_t> {};

TEST_P(GeneratedShapes, AgreeWithTheReference) {
  check_drawn_shapes(Seeds("AOE_SHAPES", 400), GetParam(), {.sampled_schedules = 1},
                     [](const ShapeLine&, ShapeDraw&) { return true; });
}
INSTANTIATE_TEST_SUITE_P(Shards, GeneratedShapes, testing::Range(0u, Seeds::kShards));

}  // namespace
}  // namespace aoe::compiler
