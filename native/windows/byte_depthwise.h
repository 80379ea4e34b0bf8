// Depthwise convolutions of bytes: sums of the taps of one channel.
#pragma once

#include "native/windows/byte_call.h"

namespace aoe::native {

/// One input channel for each group, and a window that PaddedPlanes takes.
bool is_byte_depthwise(const Run& run, const reference::Window& window);
/// Y: std::int32_t, float or a byte. `zeros`: the input that the zero points of images are; those of weights stand behind it.
template <typename Y>
void run_byte_depthwise(const Run& run, const reference::Window& window, std::size_t zeros,
                        const ChannelEnding& ending);

}  // namespace aoe::native
