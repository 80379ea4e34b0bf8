// A row of ops on a batch of images, carried out part by part: all its ops on the first part of the batch, then all on the next
// one, so that what passes between them stays in a cache. Parts of a batch are whole pieces of it in every Format: neither cutting
// nor joining copies anything (split_in_place, concat_in_place).
#pragma once

#include <vector>

#include "graph/graph.h"
#include "graph/hardware.h"
#include "graph/passes.h"

namespace aoe::graph {

/// Images of the node's output, 0 where it is none.
std::int64_t batch_of(const Graph& graph, NodeId id);

/// Whether the node can be carried out for a part of `images`.
bool can_be_cut(const Graph& graph, const Node& node, std::int64_t images);

/// Rows of neighbouring atoms of at most so many nodes, all of which can be cut and have one batch.
std::vector<std::vector<NodeId>> batch_rows(const Graph& graph, std::size_t most_nodes);

/// Replaces the nodes, which can be cut, by their copies for each of the parts. These must divide the batch.
void cut_batch(Graph& graph, const std::vector<NodeId>& nodes, std::int64_t parts);

/// A pass for PassOptions::also: cuts rows of ops between which more passes than the hardware's caches hold, where an image's share
/// is smaller and the weights, which each part reads again, are less.
Pass slice_batches_pass(const Hardware& hardware);

}  // namespace aoe::graph
