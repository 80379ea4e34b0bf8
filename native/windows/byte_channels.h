// Depthwise convolutions of bytes of images whose channels come last.
#pragma once

#include "native/windows/byte_call.h"

namespace aoe::native {

/// Of a NhwcQuantConv2D; Y: what the sums become, float or a byte.
template <typename Y>
void run_byte_channels(const Run& run, const reference::Window& window,
                       const ChannelEnding& ending);

}  // namespace aoe::native
