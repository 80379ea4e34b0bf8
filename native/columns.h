// Columns of blocks added up to an image, as Col2Im and transposed convolutions do.
#pragma once

#include <cstdint>

#include "reference/window.h"

namespace aoe::native {

/// image (one plane) += what tap number `tap` of each block holds, in the order of the blocks.
/// Of float and double.
template <typename T>
void add_tap(const reference::Window& blocks, std::int64_t tap, const T* column, T* image);

}  // namespace aoe::native
