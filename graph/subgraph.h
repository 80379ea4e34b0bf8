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

/// Who reads each value: Graph::consumers() for all of them at once.
std::vector<std::vector<NodeId>> readers_of_values(const Graph& graph);

/// `nodes` in topological order; borders in the order in which the nodes name them.
Subgraph subgraph_of(const Graph& graph, const std::vector<std::vector<NodeId>>& readers,
                     std::vector<NodeId> nodes);

/// The subgraph as a graph of its own; its borders become inputs and outputs. Names stay.
Graph extract(const Graph& graph, const Subgraph& subgraph);

}  // namespace aoe::graph
