// What gemm_nbits chooses untuned.
#include <gtest/gtest.h>

#include "compiler/impl.h"
#include "tests/compiler/shape_line.h"

namespace aoe::compiler {
namespace {

/// A panel of unpacked weights is read from L2 again for each block of rows: with one row a block a prompt waits for it.
TEST(PackedProducts, OfPromptsReadTheirPanelForSeveralRows) {
  const std::string line =
      "WeightQuantBatchMatmulV2 in=128x256 in=256x8x16:uint8:const:below=256 in=256x8:const bits=4 "
      "block_size=32";
  const Task task = parse_shape_line(line).task;
  bool is_there = false;
  for (const Candidate& each : default_candidates(task, detect_soc())) {
    if (each.impl->name() != "gemm_nbits") continue;
    is_there = true;
    EXPECT_GE(each.schedule.at("m_block"), 4);
  }
  EXPECT_TRUE(is_there);
}

}  // namespace
}  // namespace aoe::compiler
