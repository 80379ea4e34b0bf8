// Which regions of a copy go together in one parallel iteration.
#include "compiler/copy/copy_groups.h"

#include <gtest/gtest.h>

#include "compiler/copy/copy_regions.h"
#include "tests/compiler/shape_line.h"

namespace aoe::compiler {
namespace {

constexpr int kLanes = 16;

std::vector<CopyGroup> groups_of(const std::string& line, std::int64_t block_elements = 1024) {
  const Task task = parse_shape_line(line).task;
  const FormatChoice dense = {.name = "ND",
                              .inputs = {task.inputs.size(), Format::kND},
                              .outputs = {task.outputs.size(), Format::kND}};
  return copy_groups(copy_regions(task, dense, kLanes).value(),
                     {.lanes = kLanes, .unroll = 4, .block_elements = block_elements});
}

TEST(CopyGroups, RegionsThatTakeTurnsInShortRowsGoTogether) {
  struct Case {
    const char* line;
    std::vector<std::size_t> sizes;
    std::int64_t block_elements = 1024;
  };
  const Case cases[] = {
      {"ConcatV2 in=1x301x2 in=1x301x2 axis=2", {2}},
      {"ConcatV2 in=301x1 in=301x1 in=301x20 axis=1", {3}},
      {"ConcatV2 in=5x7x2x3 in=5x7x1x3 axis=2", {2}},  // pieces of 6 and 3 columns
      {"ConcatV2 in=301x100 in=301x156 axis=1", {2}, 256},
      {"ConcatV2 in=301x100 in=301x157 axis=1", {1, 1}, 256},  // rows are longer than blocks
      {"ConcatV2 in=301x1 in=301x15 in=301x1 axis=1", {1, 1, 1}, 256},  // as are 16 of them
      {"ConcatV2 in=301x1 in=301x14 in=301x1 axis=1", {3}, 256},
      {"PadV3 in=301x2 in=[0,1,0,1]", {3}},
      {"PadV3 in=301x2 in=[1,1,1,1]", {1, 1, 3}},         // one row above and below
      {"ConcatV2 in=1x8x9x9 in=1x8x9x9 axis=1", {1, 1}},  // one piece each
      {"ConcatV2 in=8x5x3 in=8x5x3 axis=0", {1, 1}},
      {"SplitV in=301x4 in=[2,2] axis=1 outputs=2", {1, 1}},  // two outputs
  };
  for (const Case& each : cases) {
    std::vector<std::size_t> sizes;
    for (const CopyGroup& group : groups_of(each.line, each.block_elements))
      sizes.push_back(group.nests.size());
    EXPECT_EQ(sizes, each.sizes) << each.line;
  }
}

TEST(CopyGroups, NestsOfAGroupAreCutAtTheSameRows) {
  for (const std::int64_t rows : {1, 15, 16, 64, 65, 128, 280, 1000}) {
    for (const std::int64_t block_elements : {1, 100, 256, 1024, 65536}) {
      const std::string n = std::to_string(rows);
      for (const CopyGroup& group : groups_of(
               "ConcatV2 in=" + n + "x3 in=" + n + "x1 in=" + n + "x40 axis=1", block_elements)) {
        for (const CopyNest& nest : group.nests)
          EXPECT_EQ(nest.parallel_extent(), group.parallel_extent())
              << rows << " rows, block_elements " << block_elements;
      }
    }
  }
}

TEST(CopyGroups, BlocksHoldPiecesOfAllParts) {
  // 256 rows of 2 + 2 columns are 1024 elements.
  const auto groups = groups_of("ConcatV2 in=1x4420x2 in=1x4420x2 axis=2");
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].parallel_extent(), (4420 + 255) / 256);
}

}  // namespace
}  // namespace aoe::compiler
