// Rows of nodes: each reads what the one before makes, as its first input and nowhere else, and nobody else does. What
// rewrites of chains look for. Internal to graph/.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

bool is_row(const Graph& graph, const std::vector<NodeId>& nodes);

/// Rows of two to `most` nodes, from every node on; a row that `visit` says no to is not made longer.
void for_each_row(const Graph& graph, std::size_t most,
                  const std::function<bool(const std::vector<NodeId>& row)>& visit);

}  // namespace aoe::graph
