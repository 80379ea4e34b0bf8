// Convolutions with windows of 3x3 by Winograd's algorithm, F(4x4, 3x3) (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
// 2015): a quarter of the products, for sums before and behind them.
#pragma once

#include "native/kernel.h"
#include "native/products/row_ending.h"
#include "reference/windows/window.h"

namespace aoe::native {

/// Whether a Conv2D may run so, with images that are large enough: its results have eight times the rounding errors of plain sums.
bool may_run_by_tiles(const Question& question);

/// Of a Conv2D of float32: whether it may, and that pays.
bool runs_by_tiles(const Run& run, const reference::Window& window);
void run_winograd_convolution(const Run& run, const reference::Window& window,
                              const RowEnding& ending);

}  // namespace aoe::native
