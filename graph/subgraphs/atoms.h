// Atoms: a graph cut at its natural borders, where a single tensor passes. A chain falls apart into
// its nodes, a branch/join region (an Inception module, a residual block) stays whole. Subgraphs
// are rows of neighbouring atoms. Parts of a graph that share no data (gears) are cut apart, too. A region that is larger
// than any subgraph (the heads of a detector, which meet in its outputs only) falls apart into its nodes as well.
#pragma once

#include <functional>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// No subgraph has more nodes: blocks of real models have fewer.
inline constexpr std::size_t kMostSubgraphNodes = 24;

/// Nodes of each atom, in topological order; so are the atoms. Values that many nodes all over the
/// graph read (the mask of every attention block) do not count as passing a border, nor do counts and conditions: a loop's
/// pass through the whole of its body. Of a region that is too large, nodes
/// that follow each other, each the only reader of the one before, are neighbours.
std::vector<std::vector<NodeId>> atoms_of(const Graph& graph);

/// A row of atoms: [begin, end).
struct AtomRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const AtomRange&) const = default;
};

struct WeightedRange {
  AtomRange range;
  double gain = 0;
};

/// The disjoint ranges with the greatest sum of gains, in order; exact, by dynamic programming over
/// the cuts. Ranges without a positive gain are not chosen.
std::vector<WeightedRange> choose_ranges(std::size_t atom_count,
                                         std::vector<WeightedRange> candidates);

/// All nodes of a range, in topological order.
std::vector<NodeId> nodes_of(const std::vector<std::vector<NodeId>>& atoms, AtomRange range);

}  // namespace aoe::graph
