// Columns of blocks added up to an image, as Col2Im and transposed convolutions do.
#pragma once

#include <cstdint>

#include "reference/windows/window.h"

namespace aoe::native {

/// image[i * step] += row[i]. Of float and double.
template <typename T>
void add_row(const T* row, std::int64_t count, std::int64_t step, T* image);

/// image (one plane) += what tap number `tap` of each block holds, in the order of the blocks.
/// Of float and double.
template <typename T>
void add_tap(const reference::Window& blocks, std::int64_t tap, const T* column, T* image);

/// The same of all taps, one behind the other. Two of a row of places two apart are added up side by side.
template <typename T>
void add_taps(const reference::Window& blocks, const T* columns, T* image);

/// image (one plane) += all taps of each block, which lie one behind the other, those of the next block `stride` behind them.
/// Without dilation along a row.
template <typename T>
void add_blocks(const reference::Window& blocks, const T* taps, std::int64_t stride, T* image);

}  // namespace aoe::native
