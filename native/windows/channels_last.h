// Convolutions of images whose channels come last (NhwcConv2D), row by row.
#pragma once

#include "native/kernel.h"
#include "native/products/row_ending.h"

namespace aoe::native {

/// Whether all calls with these shapes can be carried out: of one group, or of as many groups as there are channels in and out.
Result<void> takes_channels_last(const Question& question);

/// Of a call that it takes.
void run_channels_last(const Run& run, const RowEnding& ending);

}  // namespace aoe::native
