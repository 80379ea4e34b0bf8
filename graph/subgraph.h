// A subgraph: some nodes of a graph, and the values that cross its border.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

struct Subgraph {
  std::vector<NodeId> nodes;     ///< in topological order
  std::vector<ValueId> inputs;   ///< read inside, made outside; constants excluded
  std::vector<ValueId> outputs;  ///< made inside, read outside or given out by the graph
};

/// `nodes` in topological order; borders in the order in which the nodes name them.
Subgraph subgraph_of(const Graph& graph, std::vector<NodeId> nodes);

/// The subgraph as a graph of its own; its borders become inputs and outputs. Names stay.
Graph extract(const Graph& graph, const Subgraph& subgraph);

}  // namespace aoe::graph
