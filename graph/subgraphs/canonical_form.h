// The canonical form of a subgraph: a text and an order of its nodes that do not depend on names,
// on the order in which nodes were added, or on the values of weights. Equal blocks of one model,
// or of two, have equal texts, and their nodes correspond by place in the order.
//
// Nodes are told apart by colours (Weisfeiler and Lehman, 1968): a node's colour is refined by
// those of its neighbours until no class splits. What is still alike then is alike by symmetry, and
// any choice gives the same text. Two texts that differ although the subgraphs are alike cost a
// miss; equal texts always mean equal subgraphs, since the text spells everything out.
// Tested by tests/graph/canonical_form_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "graph/subgraph.h"

namespace aoe::graph {

struct CanonicalForm {
  std::string description;    ///< JSON text: ops, attributes, shapes, dtypes, edges, outputs
  std::vector<NodeId> order;  ///< the nodes by canonical id; a topological order
};

CanonicalForm canonical_form(const Graph& graph, const Subgraph& subgraph);

}  // namespace aoe::graph
