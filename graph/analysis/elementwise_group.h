// Groups of elementwise nodes that become the epilogue of one node. Internal to graph/.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// Longer epilogues would keep too many values alive in registers.
inline constexpr std::size_t kMostEpilogueSteps = 16;

/// Which element types a step may read and give.
enum class StepTypes {
  kFloat,  ///< float32, as behind an anchor; Quantize and Dequantize of bytes as well
  kAny,    ///< all of the operator's vector form
};

/// Whether the node may be a step: its operator has a vector form, nothing is fused yet, and its result has this shape.
bool is_step(const Graph& graph, NodeId id, const Shape& shape, StepTypes types);

/// Of a step: vectors compute it by a polynomial (exponentials, error functions, angles), which costs tens of instructions.
bool computes_by_polynomial(const Graph& graph, NodeId id);

/// Of a step: it reads or writes bytes.
bool is_quantisation(const Node& node);

/// Makes one node of `anchor`, unless that is kNone, and `steps`, given in topological order.
/// Only the last step's output is seen from outside.
NodeId fuse_steps(Graph& graph, NodeId anchor, const std::vector<NodeId>& steps);

}  // namespace aoe::graph
