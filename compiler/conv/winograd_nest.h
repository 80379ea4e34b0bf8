// The loop nest of Winograd's convolution F(m x m, 3 x 3): tiles of (m+2) x (m+2) inputs and the weights are transformed,
// multiplied position by position as small matrix products over the channels, and transformed back: 2.25 (m = 2), 4
// (m = 4) or 5.06 (m = 6) times fewer multiplications than the direct algorithm. Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2015.
//
// One parallel iteration carries a block of tiles through all three steps in its thread's scratch memory, for one share
// of the output channels.
#pragma once

#include <cstdint>

#include "compiler/conv/conv_shape.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// A Schedule of `winograd_f23`, `winograd_f43` or `winograd_f63` by name.
struct WinogradTiling {
  std::int64_t oc_vectors = 1;  ///< register block of the products: output vectors
  std::int64_t tile_block = 1;  ///< register block of the products: tiles
  std::int64_t tile_runs = 1;   ///< register blocks of tiles per parallel iteration
  std::int64_t oc_splits =
      1;  ///< parallel shares of the output channels; each transforms the inputs anew
  std::int64_t ic_unroll = 1;  ///< input channels written out in the innermost body

  /// Weights are fetched into L2 ahead of their use: 0 = left to the hardware, 1 = those of the next position, else so
  /// many vectors ahead.
  std::int64_t prefetch = 0;

  static WinogradTiling from(const Schedule& schedule);
  Schedule schedule() const;
};

/// A convolution cut up for one tiling.
class WinogradPlan {
 public:
  /// `outputs`: m, 2, 4 or 6.
  WinogradPlan(const ConvShape& shape, std::int64_t outputs, int lanes,
               const WinogradTiling& tiling);

  const ConvShape& shape() const { return shape_; }
  const WinogradTiling& tiling() const { return tiling_; }
  int lanes() const { return lanes_; }
  std::int64_t outputs() const { return outputs_; }
  std::int64_t inputs() const { return outputs_ + 2; }
  std::int64_t positions() const { return inputs() * inputs(); }
  std::int64_t tile_rows() const;
  std::int64_t tile_columns() const;
  std::int64_t tiles() const;  ///< of the whole batch
  std::int64_t tiles_per_iteration() const { return tiling_.tile_block * tiling_.tile_runs; }
  std::int64_t tile_groups() const;
  std::int64_t in_vectors() const;
  std::int64_t in_chunks() const;  ///< of ic_unroll input channels
  std::int64_t oc_blocks() const;
  std::int64_t oc_blocks_per_split() const;
  std::int64_t weight_elements() const;    ///< transformed and packed
  std::int64_t prefetch_elements() const;  ///< how far ahead weights are fetched, 0 = not at all
  std::int64_t input_scratch() const;      ///< elements of transformed inputs per iteration
  std::int64_t product_scratch() const;    ///< elements of products of one block of output vectors
  std::int64_t parallel_extent() const;
  std::int64_t registers() const;
  double core_cycles() const;  ///< see block_cycles.h

 private:
  ConvShape shape_;
  std::int64_t outputs_;
  int lanes_;
  WinogradTiling tiling_;
};

Kernel build_winograd(const Task& task, const FormatChoice& format, const WinogradPlan& plan);

}  // namespace aoe::compiler
