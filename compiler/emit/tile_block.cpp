// See tile_block.h.
#include "compiler/emit/tile_block.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "compiler/emit/integer_math.h"

namespace aoe::compiler {
namespace {

// Behind the four of sums.
constexpr int kRowTile = 4, kVectorTile = 6;

}  // namespace

TileBlock::TileBlock(std::int64_t rows, std::int64_t row_tiles, std::int64_t vectors,
                     std::int64_t words)
    : rows_(rows),
      row_tiles_(row_tiles),
      vectors_(vectors),
      words_(words),
      first_rows_(ceil_div(rows, row_tiles)) {
  AOE_CHECK(first_rows_ <= kTileRows && vectors <= kMostVectors && words <= kLanes,
            "a block of more than its tiles hold");
}

TileBlock TileBlock::of_pixels(std::int64_t rows, std::int64_t columns, std::int64_t vectors,
                               std::int64_t words) {
  const std::int64_t pixels = rows * columns;
  return {pixels, rows > 1 || pixels > kTileRows ? 2 : 1, vectors, words};
}

std::int64_t TileBlock::words_of(std::int64_t run) {
  std::int64_t steps = ceil_div(run, kLanes);
  while (run % steps != 0) ++steps;
  return run / steps;
}

void TileBlock::set_shapes(loopnest::Builder& builder) const {
  const int words = static_cast<int>(words_), lanes = static_cast<int>(kLanes);
  std::vector<loopnest::TileShape> shapes(8, {0, 0});
  for (std::int64_t part = 0; part < row_tiles_; ++part) {
    const int rows = static_cast<int>(rows_of(part));
    for (std::int64_t v = 0; v < vectors_; ++v)
      shapes[static_cast<std::size_t>(sum_tile(part, v))] = {rows, lanes};
    shapes[static_cast<std::size_t>(kRowTile + part)] = {rows, words};
  }
  for (std::int64_t v = 0; v < vectors_; ++v)
    shapes[static_cast<std::size_t>(kVectorTile + v)] = {words, lanes};
  builder.tile_shapes(std::move(shapes));
}

void TileBlock::clear(loopnest::Builder& builder) const {
  for (std::int64_t part = 0; part < row_tiles_; ++part)
    for (std::int64_t v = 0; v < vectors_; ++v) builder.tile_zero(sum_tile(part, v));
}

void TileBlock::step(loopnest::Builder& builder, const Place& rows, const Place& vector) const {
  const auto load = [&](int tile, const Rows& from, std::int64_t count) {
    builder.tile_load(tile, from.buffer, from.index, from.stride);
    for (std::int64_t row = 0; from.ahead != 0 && row < count; ++row)
      builder.prefetch(from.buffer, from.index + (from.ahead + row * from.stride));
  };
  for (std::int64_t v = 0; v < vectors_; ++v) {
    load(static_cast<int>(kVectorTile + v), vector(v), words_);
    for (std::int64_t part = 0; part < row_tiles_; ++part) {
      const int a = static_cast<int>(kRowTile + part);
      if (v == 0) load(a, rows(first_row(part)), rows_of(part));
      builder.tile_dot(sum_tile(part, v), a, static_cast<int>(kVectorTile + v));
    }
  }
}

void TileBlock::store(loopnest::Builder& builder, loopnest::Buffer sums) const {
  for (std::int64_t part = 0; part < row_tiles_; ++part)
    for (std::int64_t v = 0; v < vectors_; ++v)
      builder.tile_store(sum_tile(part, v), sums, first_row(part) * kSumsStride + v * kLanes,
                         kSumsStride);
}

double TileBlock::step_cycles() const {
  // A product takes a cycle for each row, a load reads a line each, two of which come from L1 in a cycle, one from L2 in two.
  const auto rows = static_cast<double>(std::max<std::int64_t>(rows_, 8 * row_tiles_));
  const auto vectors = static_cast<double>(vectors_);
  const double lines = static_cast<double>(rows_) + vectors * static_cast<double>(words_);
  return std::max(rows * vectors, lines);
}

}  // namespace aoe::compiler
