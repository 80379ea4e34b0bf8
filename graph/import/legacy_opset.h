// Nodes of opsets before 7, as converters of the first years wrote them, rewritten to what opset 7
// says.
#pragma once

#include <string>

#include "graph/graph.h"

namespace aoe::graph {

inline constexpr int kOldestOpset = 7;

/// `node` is not part of the graph yet and its inputs are; nodes it needs before it are added.
/// Throws Error(kModel) when the node uses what opset 7 cannot say.
void upgrade_node(Graph& graph, Node& node, const std::string& onnx_type);

}  // namespace aoe::graph
