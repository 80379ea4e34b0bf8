// Depthwise convolutions of float32 over volumes, which libraries loop over plainly, and where sizes are known when the model runs.
#pragma once

#include "native/kernel.h"
#include "native/products/row_ending.h"

namespace aoe::native {

/// Of a Conv2D of float32: one input and one output channel for each group.
bool is_depthwise(const Run& run);
void run_depthwise(const Run& run, const RowEnding& ending);

}  // namespace aoe::native
