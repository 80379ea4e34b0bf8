// Data movement as copies of strided regions: what Transpose, TransData, ConcatV2, SplitV, Slice,
// PadV3, Expand, DepthToSpace and SpaceToDepth have in common.
#pragma once

#include <vector>

#include "base/result.h"
#include "compiler/copy/copy_nest.h"

namespace aoe::compiler {

/// The regions that make up all outputs, disjoint and complete; "no" when the op does more than
/// move, when a parameter is not constant, or when the Format does not allow it.
Result<std::vector<CopyRegion>> copy_regions(const Task& task, const FormatChoice& format, int c0);

}  // namespace aoe::compiler
