// Regions of a graph that can be carried out slice by slice: along axes whose lengths only a run can tell (slice_lengths.h), each op makes a
// slice of its results of the same slices of what it reads (reference/slicing.h). A part of so many slices is then a graph whose
// sizes are known.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/analysis/slice_lengths.h"
#include "graph/graph.h"
#include "graph/hardware.h"
#include "graph/passes.h"
#include "graph/subgraph.h"

namespace aoe::graph {

struct SliceRegion {
  std::vector<NodeId> nodes;  ///< in topological order
  SliceAxes axes;
  bool is_in_place =
      false;  ///< elementwise ops: what they read and make of a part lies in one piece
};

/// Disjoint regions in topological order, each convex and of values that have equally many slices: what goes from one to another
/// and comes back would have none that is first. Regions of nothing but copies of rows are left out.
std::vector<SliceRegion> slice_regions(const Graph& graph, const Hardware& hardware = {});

/// What a slice of a region takes.
struct SliceCost {
  double bytes = 0;  ///< of the largest value
  double flops = 0;  ///< of all ops
  double weights =
      0;  ///< bytes of factors that are constants, as kernels lay them out, which every part reads
};
SliceCost slice_cost(const Graph& graph, const SliceRegion& region);

/// How many slices the parts have, descending: what passes between ops shall stay in the cores' own caches, and weights be read for
/// more than they cost.
std::vector<std::int64_t> part_sizes(const SliceCost& cost, const Hardware& hardware = {});

/// In how many slices' time a part takes longer than its slices: weights are read, and threads called.
double part_cost(const SliceCost& cost, const Hardware& hardware = {});

/// What parts cost that one thread each carries out (runtime/slice_shares.h), in how many slices' time of that thread: each, and the
/// first of a thread. nullopt where weights come from memory, which threads then better read once together.
struct PieceCost {
  double piece = 0, share = 0;
  std::int64_t longest = 0;  ///< slices of a piece
};
std::optional<PieceCost> piece_cost(const SliceCost& cost, const Hardware& hardware = {});

/// A region with `slices` slices, a graph of its own whose borders are its inputs and outputs; nullopt where an op makes
/// something else of so many.
std::optional<Graph> graph_of_part(const Graph& graph, const Subgraph& region,
                                   const SliceAxes& axes, std::int64_t slices);

/// The pass map_slices for hardware whose threads share each part: for PassOptions::also.
Pass map_slices_pass(const Hardware& hardware);

}  // namespace aoe::graph
