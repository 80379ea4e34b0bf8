// Convolution of bytes whose planes are brought into quads of four channels, with their padding, once: what a tap reads for neighbouring
// outputs are then vectors of quads side by side, wherever it is, and nothing is laid out for it anew.
#pragma once

#include "native/windows/byte_call.h"
#include "native/windows/padded_planes.h"

namespace aoe::native {

/// Of a window that PaddedPlanes takes. Y: std::int32_t, float or a byte. `zeros`: the input that the zero points of images are; those of weights
/// stand behind it.
template <typename Y>
void run_shifted_bytes(const Run& run, const reference::Window& window, std::size_t zeros,
                       const ChannelEnding& ending);

}  // namespace aoe::native
