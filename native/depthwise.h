// Depthwise convolutions of float32 over three axes: generated code has those of images, libraries loop over them plainly.
#pragma once

#include "native/kernel.h"

namespace aoe::native {

/// Of a Conv2D of float32: one input and one output channel for each group, and three spatial axes.
bool is_depthwise_volume(const Run& run);
void run_depthwise(const Run& run);

}  // namespace aoe::native
