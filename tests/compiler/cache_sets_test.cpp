// Rows that share a set of L1: the rule against a count, and that no default Schedule of a product breaks it.
#include "compiler/emit/cache_sets.h"

#include <gtest/gtest.h>

#include <map>

#include "compiler/impl.h"
#include "tests/compiler/shape_line.h"

namespace aoe::compiler {
namespace {

Soc soc_with_l1(std::int64_t bytes) {
  return {.version = "cache-sets-test",
          .target = find_target("avx512"),
          .llvm_cpu = "znver4",
          .features = {Feature::kVnni},
          .threads = 1,
          .l1d_bytes = bytes};
}

/// Rows in the fullest set of 64 lines each.
std::int64_t most_in_a_set(std::int64_t stride, std::int64_t rows) {
  std::map<std::int64_t, std::int64_t> in_set;
  std::int64_t most = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    most = std::max(most, ++in_set[row * stride / 64 % 64]);
  return most;
}

TEST(CacheSets, RowsCollideWhenASetHasMoreOfThemThanItHasRoomFor) {
  for (const std::int64_t l1 : {32 << 10, 48 << 10}) {
    const Soc soc = soc_with_l1(l1);
    const std::int64_t room = l1 / 4096 - 2;
    for (std::int64_t stride = 64; stride <= 16384; stride += 64)
      for (std::int64_t rows = 1; rows <= 32; ++rows)
        ASSERT_EQ(do_rows_collide(soc, stride, rows), most_in_a_set(stride, rows) > room)
            << stride << " bytes, " << rows << " rows, L1 of " << l1;
  }
}

TEST(CacheSets, RowsThatDoNotBeginALineOrAreOneRowDoNotCollide) {
  const Soc soc = soc_with_l1(32 << 10);
  EXPECT_FALSE(do_rows_collide(soc, 4100, 30));
  EXPECT_FALSE(do_rows_collide(soc, 0, 30));
  EXPECT_FALSE(do_rows_collide(soc_with_l1(4096), 4096, 1));
}

TEST(CacheSets, DefaultsOfProductsKeepTheirRows) {
  const Soc soc = soc_with_l1(32 << 10);
  const struct {
    const char *impl, *rows_axis, *line;
    std::int64_t stride_bytes;
  } products[] = {
      {"gemm_packed", "m_block", "MatMulV2 in=256x1024 in=1024x64:const", 4096},
      {"gemm_packed", "m_block", "MatMulV2 in=197x3072 in=3072x64:const", 12288},
      {"gemm_packed", "m_block", "MatMulV2 in=64x2048 in=2048x64", 8192},
      {"gemm_packed", "m_block", "MatMulV2 in=64x768 in=768x64:const", 3072},
  };
  for (const auto& product : products) {
    const ShapeLine shape = parse_shape_line(product.line);
    const Impl& impl = *impls().find(product.impl);
    const auto plan = impl.plan(shape.task, impl.formats(shape.task, soc).at(0), soc);
    const Schedule schedule = plan->heuristic();
    EXPECT_FALSE(do_rows_collide(soc, product.stride_bytes, schedule.at(product.rows_axis)))
        << product.line << ": " << schedule.at(product.rows_axis) << " rows";
  }
}

}  // namespace
}  // namespace aoe::compiler
