// Rewrites that are made of others, one behind the other on the same nodes. Internal to graph/.
#pragma once

#include <functional>
#include <vector>

#include "graph/rewrite_plan.h"

namespace aoe::graph {

using RewriteSteps = std::function<Result<void>(Graph&, const std::vector<NodeId>& nodes)>;

/// The rewrite of this name, which there is.
const Rewrite& rewrite_named(const std::string& kind);

/// Whether the steps do on these nodes, in topological order, what each expects of the one before: a
/// later step may refuse what an earlier one made. Tried on the nodes alone, cut out of the graph.
Result<void> check_steps(const Graph& graph, const std::vector<NodeId>& nodes,
                         const RewriteSteps& steps);

/// The steps in place; "no", with nothing changed, when check_steps() says no.
Result<void> apply_steps(Graph& graph, const std::vector<NodeId>& nodes, const RewriteSteps& steps);

}  // namespace aoe::graph
