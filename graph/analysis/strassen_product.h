// What rewrites know of Strassen's product: how a node is marked for it, and what to expect.
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "graph/hardware.h"

namespace aoe::graph {

/// The attribute that has an Impl multiply by Strassen's algorithm.
bool is_by_strassen(const reference::OpCall& op);
void mark_by_strassen(Node& node);

/// The share of its time that a product of rows x steps by steps x columns may save; 0 where nothing is to be expected.
double strassen_share(std::int64_t rows, std::int64_t columns, std::int64_t steps,
                      const Hardware& hardware);

}  // namespace aoe::graph
