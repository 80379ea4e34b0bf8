// Convolutions with any window: what its taps read for a panel of outputs is laid out in columns, which are the right factor of a product.
#pragma once

#include <cstdint>

#include "native/kernel.h"
#include "native/products/row_ending.h"
#include "reference/windows/window.h"

namespace aoe::native {

/// Whether that is faster than to read planes with their padding, of a window that PaddedPlanes takes: where many of its numbers are of
/// no output, and rows are long enough to be copied at once; or each input is read once at most.
bool unfolding_pays(const Run& run, const reference::Window& window);

/// Of a Conv2D of float or double.
template <typename T>
void run_unfolded_convolution(const Run& run, const reference::Window& window,
                              const RowEnding& ending);

}  // namespace aoe::native
