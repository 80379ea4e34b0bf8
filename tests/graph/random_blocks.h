// Random graphs made of the blocks that rewrites look for, between nodes that they do not.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace aoe::tests {

/// One input of float32 images; the same for the same seed.
graph::Graph random_blocks(std::uint32_t seed, int blocks);

/// The same graph with other names, its nodes and values added in another order.
graph::Graph shuffled_and_renamed(const graph::Graph& graph, std::uint32_t seed);

}  // namespace aoe::tests
