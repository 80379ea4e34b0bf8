// The exact part of format assignment: dynamic programming over the frontier of the model.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/lowering/format_assignment.h"

namespace aoe::compiler {

struct FrontierResult {
  std::vector<int> choice;  ///< one option per node; empty when too many values are alive at a time
  bool is_exact = true;     ///< false when states were given up
};

/// Walks the nodes in order and keeps, for every way in which the values that are still to be read may lie, the cheapest
/// choices that lead there. With at most `max_states` such ways at a time (the dearest are given up beyond), time grows
/// with nodes * max_states; chains, residual blocks and inception blocks stay far below a thousand. With more than 1,024
/// values alive at a time there is no choice at all: the ways would be as long as the model is wide.
FrontierResult sweep_frontier(const FormatProblem& problem, std::size_t max_states);

}  // namespace aoe::compiler
