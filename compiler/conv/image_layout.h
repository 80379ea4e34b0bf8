// ImageLayout: where element (n, c, h, w) of a 4-D tensor lies in its Format, as strides.
// Dimensions of size 1 get stride 0, so the layout of a broadcast operand can be indexed with the
// coordinates of the full tensor.
#pragma once

#include <cstdint>

#include "base/tensor.h"
#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

struct ImageLayout {
  std::int64_t batch = 0, row = 0, pixel = 0;  ///< elements between neighbours in n, h and w
  std::int64_t channel = 0;                    ///< between neighbouring channels (inside a block)
  std::int64_t channel_block = 0;  ///< between blocks of c0 channels; 0 when not blocked
  std::int64_t c0 = 0;             ///< 0 when channels are not blocked
  std::int64_t ring = 0;           ///< rows take turns in so many places; 0: each has its own

  /// Offset of channel `c`; for blocked layouts any channel, one division.
  loopnest::Int channel_offset(loopnest::Int c) const;
  loopnest::Int row_offset(loopnest::Int h) const;
  loopnest::Int index(loopnest::Int n, loopnest::Int c, loopnest::Int h, loopnest::Int w) const;
};

/// `shape` has four dimensions; format NCHW, ND, NHWC or NC1HWC0 (then with c0 lanes).
ImageLayout image_layout(const Shape& shape, Format format, int c0);

/// One image of which only `rows` neighbouring rows are kept, each with all its channels in blocks of c0:
/// [h % rows][channel / c0][w][c0].
ImageLayout ring_layout(std::int64_t channels, std::int64_t width, std::int64_t rows, int c0);
std::int64_t ring_elements(const ImageLayout& ring);

}  // namespace aoe::compiler
