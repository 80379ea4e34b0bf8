// The order in which nodes run when some of them shall run side by side.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// All live nodes, producers before consumers: nodes of a group at once, the others alone; without
/// groups, Graph::topological_order(). A group whose nodes need each other's results, directly or
/// through other groups, falls apart into its nodes.
std::vector<std::vector<NodeId>> run_order(const Graph& graph);

}  // namespace aoe::graph
