// See pixel_loop.h.
#include "compiler/conv/pixel_loop.h"

#include "compiler/emit/block_loops.h"
#include "compiler/emit/integer_math.h"

namespace aoe::compiler {

std::int64_t PixelLoop::vector_blocks() const {
  return ceil_div(vectors, block_vectors);
}

std::int64_t PixelLoop::blocks() const {
  return is_flat ? ceil_div(columns, block_columns) : ceil_div(rows, block_rows);
}

std::int64_t PixelLoop::tiles() const {
  return ceil_div(blocks(), tile);
}

void PixelLoop::write(Builder& builder, Int iteration, const Visit& visit,
                      const Visit& before) const {
  const std::int64_t tiles = this->tiles(), blocks = vector_blocks();
  const Int n = iteration / (tiles * blocks), rest = iteration % (tiles * blocks);
  const Int tile_number = are_pixels_outer ? rest / blocks : rest % tiles;
  const Int block = are_pixels_outer ? rest % blocks : rest / tiles;
  each_block(builder, block_runs(vectors, block_vectors), block, 1, "oc",
             [&](Int vector, std::int64_t size, Int) {
               write_tile(builder, {n, vector, 0, 0, size, 1, 1}, tile_number, visit, before);
             });
}

/// Blocks of a flat row, or whole rows.
void PixelLoop::write_tile(Builder& builder, const PixelBlock& first, Int tile_number,
                           const Visit& visit, const Visit& before) const {
  const auto column_runs = even_runs(columns, block_columns);
  const auto row_runs = even_runs(rows, block_rows);
  const auto announce = [&](std::int64_t block_rows_now, std::int64_t block_columns_now) {
    PixelBlock block = first;
    block.rows = block_rows_now;
    block.columns = block_columns_now;
    if (before) before(block);
  };
  if (is_flat) {
    return each_block(
        builder, column_runs, tile_number, tile, "pixel",
        [&](Int column, std::int64_t size, Int) {
          PixelBlock block = first;
          block.column = column;
          block.columns = size;
          visit(block);
        },
        [&](std::int64_t size) { announce(1, size); });
  }
  const bool is_one_shape = row_runs.size() == 1 && column_runs.size() == 1;
  if (is_one_shape) announce(row_runs[0].size, column_runs[0].size);
  each_block(builder, row_runs, tile_number, tile, "row", [&](Int row, std::int64_t rows_now, Int) {
    for (const BlockRun& run : column_runs) {
      if (!is_one_shape) announce(rows_now, run.size);
      builder.loop("column", run.first, run.first + run.size * run.count, run.size,
                   [&](Int column) {
                     PixelBlock block = first;
                     block.row = row;
                     block.rows = rows_now;
                     block.column = column;
                     block.columns = run.size;
                     visit(block);
                   });
    }
  });
}

double PixelLoop::sum_of(
    const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& cost) const {
  double sum = 0;
  for (const BlockRun& r : even_runs(rows, block_rows))
    for (const BlockRun& c : even_runs(columns, block_columns))
      for (const BlockRun& v : block_runs(vectors, block_vectors))
        sum += static_cast<double>(r.count * c.count * v.count) * cost(v.size, r.size, c.size);
  return sum * static_cast<double>(batch);
}

}  // namespace aoe::compiler
