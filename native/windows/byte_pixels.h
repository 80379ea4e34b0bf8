// Convolutions of bytes of images whose channels come last, of one group: pixels are rows of a product of bytes.
#pragma once

#include "native/windows/byte_call.h"

namespace aoe::native {

/// Of a NhwcQuantConv2D; Y: what the sums become, float or a byte.
template <typename Y>
void run_byte_pixels(const Run& run, const reference::Window& window, const ChannelEnding& ending);

}  // namespace aoe::native
