// Convolutions with windows of 3x3 of images whose channels come last, by Winograd's algorithm (winograd_convolution.h): a tile is
// transformed for vectors of channels, and its 36 products have a row for each tile.
#pragma once

#include "native/kernel.h"
#include "native/products/row_ending.h"
#include "reference/windows/window.h"

namespace aoe::native {

/// Of a NhwcConv2D of one group: whether it may save products, and that pays.
bool tiles_channels(const Run& run, const reference::Window& window);
void run_tiled_channels(const Run& run, const reference::Window& window, const RowEnding& ending);

}  // namespace aoe::native
