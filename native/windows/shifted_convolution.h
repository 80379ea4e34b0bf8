// Convolutions as products whose right factor is read where it lies, in planes with their padding: the rows that a window's taps read of
// them are at fixed places, so that nothing is laid out in columns.
#pragma once

#include <cstdint>

#include "native/kernel.h"
#include "native/products/row_ending.h"
#include "reference/windows/window.h"

namespace aoe::native {

/// Of a Conv2D of float or double, with a window that PaddedPlanes takes.
template <typename T>
void run_shifted_convolution(const Run& run, const reference::Window& window,
                             const RowEnding& ending);

}  // namespace aoe::native
