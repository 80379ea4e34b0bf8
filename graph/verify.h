// verify(): what every graph must keep between passes.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// Throws InternalError that names `culprit` when an invariant is broken: ids, producers, names,
/// operators, operands of epilogues, outputs with a producer of their own, no cycles, descriptions
/// that agree with inference.
void verify(const Graph& graph, const std::string& culprit);

/// The same of these nodes alone, as if all others were in order, except for names of nodes and cycles.
void verify_nodes(const Graph& graph, const std::vector<NodeId>& nodes, const std::string& culprit);

}  // namespace aoe::graph
