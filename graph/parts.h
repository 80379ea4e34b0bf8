// Parts of a graph that share no data, such as the gears of a joined graph.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// By node: the least id among the live nodes that data connects it with, however indirectly;
/// constants connect nothing.
std::vector<NodeId> parts_of(const Graph& graph);

}  // namespace aoe::graph
