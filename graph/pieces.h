// Pieces: the nodes that a rewrite puts in the place of one fused node. Internal to graph/.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// Only output 0 is wanted.
bool gives_one_result(const Node& node);

/// The names of pieces and of their results begin with the whole's; all have its origins.
class Pieces {
 public:
  /// Takes the whole, which gives one result, out of the graph.
  Pieces(Graph& graph, NodeId whole);

  /// One more node with a float32 result of this shape; `what` says which, in its name.
  ValueId add(const std::string& what, reference::OpCall op, std::vector<ValueId> inputs,
              Shape shape);
  /// `last`, which no piece reads, is what the whole gave.
  void finish(ValueId last);

  Graph& graph() { return graph_; }
  const Node& whole() const { return whole_; }

 private:
  Graph& graph_;
  const Node whole_;
};

}  // namespace aoe::graph
