// Maxima of windows that are many taps long and move by one: those of windows a third or half as long are made first, for all places, and serve
// three windows or two. A window of 13 taps takes three maxima along each axis, not 12.
#pragma once

#include <cstdint>

#include "compiler/conv/pool_window.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// Whether a window is so long, and its padded plane no larger than `bytes`.
bool suits_running_maxima(const PoolWindow& window, std::int64_t bytes);
/// Elements of the scratch that a plane needs.
std::int64_t running_maxima_scratch(const PoolWindow& window);
/// Emits the maxima of the plane at x + x_base.
void emit_running_maxima(Builder& builder, const PoolWindow& window, int lanes, Buffer scratch,
                         Buffer x, Int x_base, Buffer y, Int y_base);

}  // namespace aoe::compiler
