// See copy_groups.h.
#include "compiler/copy/copy_groups.h"

#include <algorithm>
#include <optional>

#include "base/check.h"

namespace aoe::compiler {
namespace {

/// How the elements of a region lie in its target: `columns` in a row, one row every `stride`.
struct Rows {
  std::int64_t first = 0, columns = 1, count = 1, stride = 0;
  std::int64_t step = 1;  ///< blocks of rows begin at multiples of it
};

/// Nothing where more than one stride leads from row to row, or where tiles are transposed.
std::optional<Rows> rows_of(const CopyNest& nest, int lanes) {
  const CopyRegion& region = nest.region();
  if (nest.is_transposing() || region.padded_last > 0) return {};
  // The vectors of a single column run along it.
  const bool is_column = region.to.back() != 1;
  if (region.extents.size() != (is_column ? 1 : 2)) return {};
  return Rows{.first = region.to_offset,
              .columns = is_column ? 1 : region.extents.back(),
              .count = region.extents[0],
              .stride = region.to[0],
              .step = is_column ? lanes : 1};
}

/// Rows longer than a block stay cut.
bool take_turns(const CopyNest& one, const CopyNest& other, const CopyTiling& tiling) {
  const auto a = rows_of(one, tiling.lanes), b = rows_of(other, tiling.lanes);
  if (!a || !b || one.region().output != other.region().output) return false;
  const std::int64_t begin = std::min(a->first, b->first);
  const std::int64_t end = std::max(a->first + a->columns, b->first + b->columns);
  return a->count == b->count && a->stride == b->stride && end - begin <= a->stride &&
         std::max(a->step, b->step) * a->stride <= tiling.block_elements;
}

/// The same rows for all nests in every iteration.
void tile_alike(CopyGroup& group, const CopyTiling& tiling) {
  std::int64_t columns = 0, step = 1;
  for (const CopyNest& nest : group.nests) {
    const Rows rows = *rows_of(nest, tiling.lanes);
    columns += rows.columns;
    step = std::max(step, rows.step);
  }
  const std::int64_t block_rows = tiling.block_elements / columns / step * step;
  for (CopyNest& nest : group.nests) {
    const Rows rows = *rows_of(nest, tiling.lanes);
    CopyTiling alike = tiling;
    if (rows.step != 1) alike.unroll = 1;
    alike.block_elements = block_rows * rows.columns;
    nest = CopyNest(nest.region(), alike);
    AOE_CHECK(nest.parallel_extent() == group.parallel_extent(), "the same rows for all nests");
  }
}

}  // namespace

std::vector<CopyGroup> copy_groups(const std::vector<CopyRegion>& regions,
                                   const CopyTiling& tiling) {
  std::vector<CopyGroup> groups;
  for (const CopyRegion& region : regions) {
    CopyNest nest(region, tiling);
    if (groups.empty() || !take_turns(groups.back().nests[0], nest, tiling)) groups.emplace_back();
    groups.back().nests.push_back(std::move(nest));
  }
  for (CopyGroup& group : groups)
    if (group.nests.size() > 1) tile_alike(group, tiling);
  return groups;
}

}  // namespace aoe::compiler
