// Which taps of a window lie inside the input, for an output coordinate known only while the code
// runs.
#pragma once

#include "compiler/conv/pixel_blocks.h"
#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

/// First tap that is not before the input.
loopnest::Int first_tap(const WindowAxis& axis, loopnest::Int output);
/// One past the last tap that is not behind the input.
loopnest::Int end_tap(const WindowAxis& axis, loopnest::Int output);

}  // namespace aoe::compiler
