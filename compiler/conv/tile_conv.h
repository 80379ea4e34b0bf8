// TileConvCut: a convolution of float32 in tiles of bfloat16 (tile_block.h), cut up for one tiling.
//
// A first stage rounds the input to the workspace, [image][padded row][pixel][pair of channels], padding and all, so that the windows of
// neighbouring outputs lie a fixed way apart: a tile's rows are up to 16 pixels of a row of outputs, its words up to 16 pairs of one tap
// or of neighbouring taps. Of 1x1 windows with strides only the pixels that are read are there.
#pragma once

#include <cstdint>

#include "compiler/conv/conv_shape.h"
#include "compiler/conv/pixel_loop.h"
#include "compiler/emit/tile_block.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// A Schedule of `conv_amx` by name.
struct TileConvTiling {
  std::int64_t oc_vectors = 1;  ///< block: output vectors
  std::int64_t oh_block = 1;    ///< block: output rows, each a tile of its own where there are two
  std::int64_t ow_block = 1;    ///< block: output columns; pixels of a flat cut
  std::int64_t tile = 1;  ///< row blocks (of a flat cut: blocks of pixels) per parallel iteration
  std::int64_t pixels_outer = 0;  ///< 1: output channels vary fastest between parallel iterations
  std::int64_t prefetch = 0;      ///< steps that tiles are fetched ahead
};

class TileConvCut {
 public:
  /// `shape` has one group; `is_flattenable` as image_store.h says.
  TileConvCut(const ConvShape& shape, bool is_flattenable, const TileConvTiling& tiling);
  TileConvCut with(const TileConvTiling& tiling) const;

  /// As blocks read it: 1x1 windows have no strides.
  const ConvShape& shape() const { return shape_; }
  /// Of the rows and columns of the input that the workspace has.
  std::int64_t picked_rows() const { return picked_rows_; }
  std::int64_t picked_columns() const { return picked_columns_; }
  const TileConvTiling& tiling() const { return tiling_; }
  bool is_flat() const { return is_flat_; }

  /// Pairs of a pixel's channels, with pairs of zeros behind them where steps are fewer so.
  std::int64_t pixel_words() const { return pixel_words_; }
  std::int64_t read_height() const { return shape_.reached_rows(); }
  std::int64_t read_width() const { return shape_.reached_columns(); }
  std::int64_t workspace_words() const {
    return shape_.batch * read_height() * read_width() * pixel_words_;
  }
  /// Neighbouring words that one loop runs through: of a row of taps, or of one tap; and how many such runs a row of taps has.
  std::int64_t run_words() const;
  std::int64_t run_columns() const { return shape_.dilation_width == 1 ? 1 : shape_.kernel_width; }
  /// Words of a step, which divide a run.
  std::int64_t tile_words() const { return tile_words_; }
  std::int64_t window_words() const { return shape_.kernel_height * run_columns() * run_words(); }

  std::int64_t out_vectors() const;
  PixelLoop loop() const;
  TileBlock tiles_of(const PixelBlock& block) const;
  std::int64_t parallel_extent() const { return loop().parallel_extent(); }
  bool fits() const;
  double core_cycles() const;

 private:
  void choose_words();

  ConvShape shape_;
  TileConvTiling tiling_;
  bool is_flat_ = false;
  std::int64_t picked_rows_ = 1, picked_columns_ = 1;
  std::int64_t pixel_words_ = 1, tile_words_ = 1;
};

Kernel build_tile_conv(const Task& task, const FormatChoice& format, const TileConvCut& cut);

}  // namespace aoe::compiler
