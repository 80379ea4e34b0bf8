// Epilogues that no Impl computes with their anchor. Passes fuse what has a vector form; a library takes less of it behind what it
// alone computes: convolutions whose weights or bias are computed, transposed ones. The reference would compute all of it, by plain loops.
#pragma once

#include "compiler/soc.h"
#include "graph/passes.h"

namespace aoe::compiler {

/// A pass for graph::PassOptions::also: where only the reference takes a node and some Impl its anchor, the steps behind the longest
/// part that one takes become a node of their own.
graph::Pass split_refused_epilogues_pass(const Soc& soc);

}  // namespace aoe::compiler
