// What rewrites that end in a FusedChain may choose.
#pragma once

#include <vector>

#include "graph/rewrite_plan.h"

namespace aoe::graph {

/// The Format around the chain: left to the compiler, NHWC, NC1HWC0.
std::vector<RewriteParams> chain_choices();

}  // namespace aoe::graph
