// Runs a graph node by node with the reference: the meaning that every pass must keep.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace aoe::tests {

/// The graph's outputs for these inputs, both in the graph's order.
std::vector<ConstantPtr> interpret(const graph::Graph& graph,
                                   const std::vector<ConstantPtr>& inputs);

/// Floats of any width in (-2, 2), integers 0 and 1 (an index into anything), bools.
std::vector<ConstantPtr> random_inputs(const graph::Graph& graph, std::uint32_t seed);

/// Fails the current test when an output differs: floats by more than 1e-5 of the output's range (those of 16 bits by a
/// few of their steps), others at all.
void expect_same_outputs(const graph::Graph& before, const graph::Graph& after, std::uint32_t seed);

}  // namespace aoe::tests
