// Groups of elementwise nodes that become the epilogue of one node. Internal to graph/.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// Longer epilogues would keep too many values alive in registers.
inline constexpr std::size_t kMostEpilogueSteps = 16;

/// Whether the node may be a step: elementwise, float32 in and out, nothing fused yet, and its
/// result described by `desc`.
bool is_step(const Graph& graph, NodeId id, const TensorDesc& desc);

/// Makes one node of `anchor` (kNone: a FusedElementwise) and `steps`, given in topological order.
/// Only the last step's output is seen from outside.
NodeId fuse_steps(Graph& graph, NodeId anchor, const std::vector<NodeId>& steps);

}  // namespace aoe::graph
