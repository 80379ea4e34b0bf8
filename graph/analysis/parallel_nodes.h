// Nodes that do the same to one input, but for their weights: what horizontal fusions look for.
// Internal to graph/.
#pragma once

#include <functional>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

inline constexpr std::size_t kFewestParallel = 2, kMostParallel = 8;

/// Same bytes of the same description.
bool are_equal(const Constant& a, const Constant& b);

/// Groups of two or more candidates that read the same first input and of which `can_join` says
/// that they may become one; each candidate is in one group at most.
std::vector<std::vector<NodeId>> parallel_groups(
    const Graph& graph, const std::function<bool(const Node&)>& is_candidate,
    const std::function<bool(const std::vector<NodeId>&)>& can_join);

/// The i-th inputs of the nodes, float32 constants, one behind the other along an axis.
ValueId joined_constants(Graph& graph, const std::vector<NodeId>& nodes, std::size_t i,
                         std::size_t axis);

}  // namespace aoe::graph
