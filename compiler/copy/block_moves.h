// DepthToSpace and SpaceToDepth as copies of strided regions.
#pragma once

#include <vector>

#include "base/result.h"
#include "compiler/copy/copy_nest.h"

namespace aoe::compiler {

/// As copy_regions() gives them.
Result<std::vector<CopyRegion>> block_move_regions(const Task& task, const FormatChoice& format,
                                                   int c0);

}  // namespace aoe::compiler
