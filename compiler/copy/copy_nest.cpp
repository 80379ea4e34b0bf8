// See copy_nest.h.
#include "compiler/copy/copy_nest.h"

#include <algorithm>
#include <utility>

#include "compiler/emit/integer_math.h"
#include "compiler/emit/strided_nest.h"

namespace aoe::compiler {
namespace {

/// A square block that is transposed in registers.
struct Tile {
  Int from, to;
  Shape from_rows;            ///< where the source rows that are there begin
  std::int64_t from_column;   ///< distance of a source row's elements
  std::int64_t to_row;        ///< distance of target rows
  std::int64_t columns;       ///< lanes of them that are there
  std::int64_t stored_lanes;  ///< of each target row
};

/// Its source rows are one piece, as pixels of a few channels are.
bool are_pixels(const Tile& tile) {
  constexpr std::int64_t kFew = 4;
  std::int64_t next = 0;
  return tile.columns > 1 && tile.columns <= kFew && tile.from_column == 1 &&
         std::ranges::all_of(tile.from_rows, [&](std::int64_t row) {
           return row == std::exchange(next, next + tile.columns);
         });
}

void emit_tile(Builder& builder, Buffer from, Buffer to, const Tile& tile,
               const CopyTiling& tiling) {
  const int lanes = tiling.lanes;
  if (are_pixels(tile)) {
    // Each target row is read by itself, of few lines of the cache that all of them share: 1x1080x1920x3 of bytes from NHWC takes
    // 0.3 ms so, and 1.3 by transposed blocks, of whose lanes three are there (one thread of a Zen 5).
    for (std::int64_t c = 0; c < tile.columns; ++c)
      builder.store(
          to, tile.to + c * tile.to_row,
          builder.load_as(tiling.type, from, tile.from + c, lanes,
                          Int(static_cast<std::int64_t>(tile.from_rows.size())), tile.columns),
          Int(tile.stored_lanes));
    return;
  }
  std::vector<Vec> rows;
  for (const std::int64_t row : tile.from_rows) {
    rows.push_back(builder.get(builder.local(builder.load_as(
        tiling.type, from, tile.from + row, lanes, Int(tile.columns), tile.from_column))));
  }
  const auto count = static_cast<std::int64_t>(rows.size());
  if (count < lanes && tile.to_row == count && tile.stored_lanes == count) {
    // The target rows are one piece, as the pixels of a few channels are: 1x3x224x224 to NHWC takes 8 us so, and 18 us row
    // by row (one thread of a Zen 5).
    const std::int64_t elements = count * tile.columns;
    for (std::int64_t i = 0; i * lanes < elements; ++i)
      builder.store(to, tile.to + i * lanes, interleave(rows, static_cast<int>(i)),
                    Int(std::min<std::int64_t>(lanes, elements - i * lanes)));
    return;
  }
  rows.resize(static_cast<std::size_t>(lanes), loopnest::splat(0.0, lanes, tiling.type));
  for (std::int64_t c = 0; c < tile.columns; ++c) {
    builder.store(to, tile.to + c * tile.to_row, transpose_row(rows, static_cast<int>(c)),
                  Int(tile.stored_lanes));
  }
}

}  // namespace

CopyNest::CopyNest(CopyRegion region, const CopyTiling& tiling)
    : region_(std::move(region)), tiling_(tiling) {
  merge_dimensions();
  if (!region_.last_from.empty()) crossing_ = region_.extents.size() - 2;
  if (crossing_ || region_.fill || region_.from.back() <= 1 || region_.to.back() != 1) return;
  for (std::size_t d = 0; d + 1 < region_.extents.size(); ++d) {
    if (region_.from[d] == 1 && region_.extents[d] > 1) crossing_ = d;
  }
}

void CopyNest::merge_dimensions() {
  StridedNest nest{.extents = region_.extents, .strides = {region_.to, region_.from}};
  nest.collapse(!region_.last_from.empty() ? 2 : region_.padded_last > 0 ? 1 : 0);
  region_.extents = nest.extents;
  region_.to = nest.strides[0];
  region_.from = nest.strides[1];
  // A single element is where it is: no stride leads on from it, and stores ask for one.
  if (region_.extents.back() == 1 && region_.to.back() == 0) region_.to.back() = 1;
}

/// Target columns (source rows) that one parallel iteration transposes: a strip of tiles.
std::int64_t CopyNest::strip_columns() const {
  const std::int64_t tiles =
      std::max<std::int64_t>(1, tiling_.block_elements / (tiling_.lanes * tiling_.lanes));
  return std::min(tiles * tiling_.lanes, round_up(region_.extents.back(), tiling_.lanes));
}

namespace {

StridedNest nest_of(const CopyRegion& region) {
  StridedNest nest{.extents = region.extents, .strides = {region.to, region.from}};
  if (region.padded_last > 0) nest.extents.back() = region.padded_last;
  return nest;
}

NestTiling nest_tiling_of(const StridedNest& nest, const CopyTiling& tiling) {
  const std::int64_t inner = nest.inner(), block = tiling.block_elements;
  NestTiling result{.lanes = tiling.lanes, .unroll = tiling.unroll};
  if (inner <= block) {
    result.row_block = std::clamp<std::int64_t>(block / inner, 1, nest.rows());
  } else {
    const std::int64_t step = tiling.lanes * tiling.unroll;
    result.inner_block = std::max(step, block / step * step);
  }
  return result;
}

}  // namespace

std::int64_t CopyNest::parallel_extent() const {
  if (!crossing_) {
    const StridedNest nest = nest_of(region_);
    return aoe::compiler::parallel_extent(nest, nest_tiling_of(nest, tiling_));
  }
  std::int64_t extent = ceil_div(region_.extents.back(), strip_columns());
  for (std::size_t d = 0; d + 1 < region_.extents.size(); ++d) {
    extent *= d == *crossing_ ? ceil_div(region_.extents[d], tiling_.lanes) : region_.extents[d];
  }
  return extent;
}

void CopyNest::emit(Builder& builder, std::optional<Buffer> from, Buffer to, Int p) const {
  if (crossing_) return emit_tiles(builder, *from, to, p);
  emit_vectors(builder, from, to, p);
}

void CopyNest::emit_vectors(Builder& builder, std::optional<Buffer> from, Buffer to, Int p) const {
  const StridedNest nest = nest_of(region_);
  const NestTiling tiling = nest_tiling_of(nest, tiling_);
  const int lanes = tiling.lanes;
  emit_nest(builder, nest, tiling, p, [&](const NestPosition& at) {
    const Int target = at.offsets[0] + region_.to_offset;
    const std::int64_t target_stride = region_.to.back();
    if (region_.fill) {
      const Vec value = loopnest::splat(*region_.fill, lanes);
      return builder.store(to, target, value, at.active, target_stride);
    }
    std::optional<Int> present = at.active;
    if (region_.padded_last > 0) present = Int(region_.extents.back()) - at.coordinates.back();
    const std::int64_t stride = region_.from.back();
    if (stride == 0) present.reset();  // the one element is there even if only some lanes are
    const Int source = at.offsets[1] + region_.from_offset;
    builder.store(to, target, builder.load_as(tiling_.type, *from, source, lanes, present, stride),
                  at.active, target_stride);
  });
}

void CopyNest::emit_tiles(Builder& builder, Buffer from, Buffer to, Int p) const {
  const int lanes = tiling_.lanes;
  const std::size_t last = region_.extents.size() - 1;
  const std::int64_t width = region_.extents[*crossing_], height = region_.extents[last];
  const std::int64_t strip = strip_columns(), strips = ceil_div(height, strip);
  const Int first = p % strips * strip;
  p = p / strips;
  Int source = region_.from_offset, target = region_.to_offset, column = 0;
  for (std::size_t d = last; d-- > 0;) {
    const std::int64_t extent = d == *crossing_ ? ceil_div(width, lanes) : region_.extents[d];
    const Int i = p % extent * (d == *crossing_ ? lanes : 1);
    p = p / extent;
    if (d == *crossing_) column = i;
    source = source + i * region_.from[d];
    target = target + i * region_.to[d];
  }
  const auto tile = [&](Int row, std::int64_t rows, std::int64_t columns) {
    Shape from_rows = region_.last_from;
    for (std::int64_t r = 0; region_.last_from.empty() && r < rows; ++r)
      from_rows.push_back(r * region_.from[last]);
    emit_tile(builder, from, to,
              {.from = source + row * region_.from[last],
               .to = target + row,
               .from_rows = from_rows,
               .from_column = region_.from[*crossing_],
               .to_row = region_.to[*crossing_],
               .columns = columns,
               .stored_lanes = region_.padded_last > 0 ? region_.padded_last : rows},
              tiling_);
  };
  const std::int64_t full = height / lanes * lanes;
  const auto tiles = [&](std::int64_t columns) {
    builder.loop("row", first, min(first + strip, full), lanes,
                 [&](Int row) { tile(row, lanes, columns); });
    if (full < height) {
      builder.if_(Int(height) <= first + strip, [&] { tile(Int(full), height - full, columns); });
    }
  };
  if (width % lanes == 0) return tiles(lanes);
  builder.if_(
      column + lanes <= Int(width), [&] { tiles(lanes); }, [&] { tiles(width % lanes); });
}

}  // namespace aoe::compiler
