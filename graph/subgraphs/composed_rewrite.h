// Two rewrites in a row as one: places of the second among what the first has made. Internal to graph/.
#pragma once

#include "graph/subgraphs/rewrite_plan.h"

namespace aoe::graph {

/// "first+second", whose version follows from theirs. A place names the nodes of the first, then others that the second
/// takes besides all that are left of these.
Rewrite composed(const Rewrite& first, const Rewrite& second);

}  // namespace aoe::graph
