// Depthwise convolutions of float32 over three axes: generated code has those of images, libraries loop over them plainly.
#pragma once

#include "native/kernel.h"

namespace aoe::native {

/// Of a Conv2D: one input and one output channel for each group, and inputs of float32 with three spatial axes.
Result<void> supports_depthwise(const Question& question);
void run_depthwise(const Run& run);

}  // namespace aoe::native
