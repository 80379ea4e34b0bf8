// Convolutions with strides of 1: what a tap reads of a plane lies where another does, some places on, so that nothing is laid out in
// columns for a product.
#pragma once

#include <cstdint>

#include "native/kernel.h"
#include "reference/window.h"

namespace aoe::native {

/// Whether its strides are 1, and its padding cuts nothing off.
bool can_be_shifted(const reference::Window& window);

/// Of a Conv2D of float or double whose window can be shifted.
template <typename T>
void run_shifted_convolution(const Run& run, const reference::Window& window);

}  // namespace aoe::native
