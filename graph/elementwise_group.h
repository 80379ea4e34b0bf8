// Groups of elementwise nodes that become the epilogue of one node. Internal to graph/.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// Longer epilogues would keep too many values alive in registers.
inline constexpr std::size_t kMostEpilogueSteps = 16;

/// Whether the node may be a step: elementwise, float32 in and out, nothing fused yet, and its result of this shape.
/// Quantize and Dequantize of bytes are steps too, with one constant scale and zero point for all.
bool is_step(const Graph& graph, NodeId id, const Shape& shape);

/// Of a step: it reads or writes bytes.
bool is_quantisation(const Node& node);

/// Makes one node of `anchor` (kNone: a FusedElementwise) and `steps`, given in topological order.
/// Only the last step's output is seen from outside.
NodeId fuse_steps(Graph& graph, NodeId anchor, const std::vector<NodeId>& steps);

}  // namespace aoe::graph
