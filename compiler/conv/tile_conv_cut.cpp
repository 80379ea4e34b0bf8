// The arithmetic of TileConvCut.
#include <limits>

#include "compiler/conv/tile_conv.h"
#include "compiler/emit/integer_math.h"

namespace aoe::compiler {

TileConvCut::TileConvCut(const ConvShape& shape, bool is_flattenable, const TileConvTiling& tiling)
    : shape_(shape), tiling_(tiling) {
  const bool is_1x1 = shape.kernel_height * shape.kernel_width == 1 && !shape.has_padding();
  if (is_1x1) {
    picked_rows_ = shape.stride_height;
    picked_columns_ = shape.stride_width;
    shape_.stride_height = shape_.stride_width = 1;
    shape_.in_height = shape.out_height;
    shape_.in_width = shape.out_width;
  }
  is_flat_ = is_1x1 && is_flattenable;
  choose_words();
}

TileConvCut TileConvCut::with(const TileConvTiling& tiling) const {
  TileConvCut cut = *this;
  cut.tiling_ = tiling;
  return cut;
}

/// As few steps as possible, then as few words.
void TileConvCut::choose_words() {
  const std::int64_t least = ceil_div(shape_.in_channels, 2);
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t words = least; words < least + 8; ++words) {
    const std::int64_t run = words * shape_.kernel_width / run_columns();
    const std::int64_t step = TileBlock::words_of(run);
    if (run / step >= fewest) continue;
    fewest = run / step;
    pixel_words_ = words;
    tile_words_ = step;
  }
}

std::int64_t TileConvCut::run_words() const {
  return pixel_words_ * shape_.kernel_width / run_columns();
}

std::int64_t TileConvCut::out_vectors() const {
  return ceil_div(shape_.out_channels, TileBlock::kLanes);
}

PixelLoop TileConvCut::loop() const {
  return {.batch = shape_.batch,
          .vectors = out_vectors(),
          .rows = is_flat_ ? 1 : shape_.out_height,
          .columns = is_flat_ ? shape_.out_pixels() : shape_.out_width,
          .is_flat = is_flat_,
          .block_vectors = tiling_.oc_vectors,
          .block_rows = tiling_.oh_block,
          .block_columns = tiling_.ow_block,
          .tile = tiling_.tile,
          .are_pixels_outer = tiling_.pixels_outer != 0};
}

TileBlock TileConvCut::tiles_of(const PixelBlock& block) const {
  return TileBlock::of_pixels(block.rows, block.columns, block.vectors, tile_words_);
}

bool TileConvCut::fits() const {
  if (is_flat_ && tiling_.oh_block != 1) return false;
  return tiling_.oh_block * tiling_.ow_block <= TileBlock::kMostRows &&
         tiling_.tile <= loop().blocks();
}

double TileConvCut::core_cycles() const {
  constexpr double kStoreCycles = 4;  // of a vector of sums, through memory
  return loop().sum_of([&](std::int64_t vectors, std::int64_t rows, std::int64_t columns) {
    const TileBlock tiles = tiles_of({0, 0, 0, 0, vectors, rows, columns});
    const double steps = static_cast<double>(window_words()) / static_cast<double>(tile_words_);
    return tiles.step_cycles() * steps +
           kStoreCycles * static_cast<double>(vectors * rows * columns);
  });
}

}  // namespace aoe::compiler
