// Memory of tensors whose sizes only a run tells, which is used again.
#include "runtime/memory_pool.h"

#include <gtest/gtest.h>

#include "runtime/tensor_table.h"
#include "tests/runtime/om_builder.h"

namespace aoe::runtime {
namespace {

TEST(MemoryPool, TheSmallestBlockThatIsLargeEnough) {
  MemoryPool pool;
  MemoryPool::Block small = pool.take(100'000), large = pool.take(300'000);
  const void *small_at = small->data(), *large_at = large->data();
  pool.give(std::move(large));
  pool.give(std::move(small));
  EXPECT_EQ(pool.take(90'000)->data(), small_at);
  EXPECT_EQ(pool.take(200'000)->data(), large_at);
}

TEST(MemoryPool, ASmallTensorLeavesALargeBlockToOthers) {
  MemoryPool pool;
  MemoryPool::Block large = pool.take(1'000'000);
  const void* at = large->data();
  pool.give(std::move(large));
  EXPECT_NE(pool.take(100'000)->data(), at);
  EXPECT_EQ(pool.take(900'000)->data(), at);
}

TEST(MemoryPool, WhatSomebodyHoldsIsNotFree) {
  MemoryPool pool;
  const MemoryPool::Block held = pool.take(100'000);
  pool.give(held);
  EXPECT_NE(pool.take(100'000)->data(), held->data());
}

TEST(MemoryPool, WhatNoRunWantsIsFreed) {
  MemoryPool pool;
  MemoryPool::Block block = pool.take(100'000);
  const std::weak_ptr<const AlignedMemory> watched = block;
  pool.give(std::move(block));
  for (int run = 0; run < 3; ++run) {
    EXPECT_FALSE(watched.expired()) << run;
    pool.end_run();
  }
  pool.end_run();
  EXPECT_TRUE(watched.expired());
}

TEST(TensorTable, ReleasedTensorsLeaveTheirMemoryOnceNobodySharesIt) {
  tests::OmBuilder b;
  const TensorDesc open = tests::floats({kUnknownDim}), known = tests::floats({50'000});
  const int first = b.dynamic("first", open), alias = b.dynamic("alias", open),
            second = b.dynamic("second", open), third = b.dynamic("third", open);
  TensorTable table(b.om, {});
  table.allocate(first, known);
  const void* const at = table.address(first);
  table.share(alias, known, first);
  table.release(first);
  table.allocate(second, known);
  EXPECT_NE(table.address(second), at);
  EXPECT_EQ(table.address(alias), at);
  table.release(alias);
  table.allocate(third, known);
  EXPECT_EQ(table.address(third), at);
  EXPECT_NE(table.address(second), at);
}

}  // namespace
}  // namespace aoe::runtime
