// Which steps of a group really run side by side: those whose Impl generates code.
#pragma once

#include <vector>

#include "compiler/lowering.h"

namespace aoe::compiler {

/// Moves the steps of each group that cannot join before those that can, together with their
/// kernels, and leaves only groups of at least two steps that can, the longest first.
void settle_groups(Lowered& lowered, std::vector<Kernel>& kernels);

}  // namespace aoe::compiler
