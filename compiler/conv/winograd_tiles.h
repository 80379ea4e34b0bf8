// A group of Winograd tiles: its inputs transformed, multiplied with the weights position by position, and transformed
// back, in scratch memory of its thread. What whole convolutions and those with a pooling behind them have in common.
#pragma once

#include <functional>
#include <vector>

#include "compiler/conv/image_store.h"
#include "compiler/conv/winograd_nest.h"

namespace aoe::compiler {

/// The image, and the first output of a tile.
struct WinogradTile {
  loopnest::Int n, row, column;
};

struct WinogradTiles {
  const ImageLayout& in;  ///< of inputs[0], in NC1HWC0, or of bytes in NHWC
  const ImageStore& store;
  const KernelBuffers& buffers;  ///< by the convolution's inputs, and its own constants
  std::function<WinogradTile(loopnest::Int)> tile_at;  ///< of the i-th tile of the group
  loopnest::Int tiles;                                 ///< at most tiles_per_iteration()
  loopnest::Int first_block, end_block;                ///< blocks of output channels
  loopnest::Int end_row;                               ///< output rows from here on are not stored
  std::optional<loopnest::Vec> input_zero;             ///< of bytes, if it is not 0
};

struct WinogradScratch {
  loopnest::Buffer inputs, products;
};
WinogradScratch declare_scratch(loopnest::Builder& builder, const WinogradCut& cut);

void write_winograd_tiles(loopnest::Builder& builder, const WinogradCut& cut,
                          const WinogradScratch& scratch, const WinogradTiles& group);

/// Transformed weights, and the bias.
std::vector<PackedConstant> winograd_constants(const Task& task, const WinogradCut& cut);

}  // namespace aoe::compiler
