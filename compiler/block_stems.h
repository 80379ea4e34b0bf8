// First convolutions over blocks of pixels: the rewrite `space_to_depth` where estimates say that Winograd's algorithm over blocks takes less.
#pragma once

#include "compiler/soc.h"
#include "graph/passes.h"

namespace aoe::compiler {

/// A pass for graph::PassOptions::also: a strided convolution of few channels becomes a SpaceToDepth and one of stride 1.
graph::Pass block_stems_pass(const Soc& soc);

}  // namespace aoe::compiler
