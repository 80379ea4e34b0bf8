// The parallel iterations of a StridedNest.
#include "compiler/emit/strided_nest.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace aoe::compiler {
namespace {

loopnest::Function fill(const StridedNest& nest, const NestTiling& tiling) {
  loopnest::Builder builder("fill");
  const auto out = builder.buffer("out", loopnest::Access::kWrite);
  builder.parallel(parallel_extent(nest, tiling), [&](loopnest::Int p) {
    emit_nest(builder, nest, tiling, p, [&](const NestPosition& at) {
      builder.store(out, at.offsets[0], loopnest::splat(0.0f, tiling.lanes), at.active);
    });
  });
  return builder.finish();
}

/// With blocks of 48, loops in steps of 32 went on from 624 to 656, past the end of the row.
TEST(StridedNest, RefusesBlocksThatCutALoopIteration) {
  const StridedNest nest = {.extents = {650}, .strides = {{1}}};
  EXPECT_EQ(fill(nest, {.lanes = 16, .unroll = 2, .inner_block = 64}).parallel_extent, 11);
  EXPECT_THROW(fill(nest, {.lanes = 16, .unroll = 2, .inner_block = 48}), InternalError);
  EXPECT_NO_THROW(fill(nest, {.lanes = 16, .unroll = 1, .inner_block = 48}));
}

}  // namespace
}  // namespace aoe::compiler
