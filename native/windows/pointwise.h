// Convolutions whose window is one place, or as wide as the image: products of the weights and the images' planes.
#pragma once

#include "native/kernel.h"
#include "native/products/row_ending.h"
#include "reference/windows/window.h"

namespace aoe::native {

/// A window of one place, which reads each place of the input once; no groups, and enough output channels that packing pays.
bool is_pointwise(const Run& run, const reference::Window& window);

/// Of a Conv2D of float or double that is_pointwise().
template <typename T>
void run_pointwise(const Run& run, const RowEnding& ending);

/// A window that reads whole rows of an image, which follow each other; the same besides.
bool reads_rows(const Run& run, const reference::Window& window);

/// Of such a one.
template <typename T>
void run_over_rows(const Run& run, const reference::Window& window, const RowEnding& ending);

}  // namespace aoe::native
