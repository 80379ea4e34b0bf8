// Formats for the whole model: which option (Impl in a Format) each op takes, so that op times plus the conversions
// between ops, and between the memories that they work in, are least. Knows nothing of tensors and kernels: numbers in, choices out.
// Tested by tests/compiler/format_assignment_test.cpp against brute force.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/layout.h"

namespace aoe::compiler {

/// One way to run a node: its time, the Format in which it takes and gives each value (kUndefined = does not matter), and the
/// memory where.
struct FormatOption {
  double time_ns = 0;
  std::vector<Format> inputs;
  std::vector<Format> outputs;
  Memory memory = Memory::kHost;
};

struct FormatNode {
  std::vector<FormatOption> options;  ///< at least one
  std::vector<int> inputs;            ///< value ids; -1 = absent
  std::vector<int> outputs;
};

struct FormatProblem {
  std::vector<FormatNode> nodes;  ///< producers before consumers
  int value_count = 0;
  std::vector<int>
      model_outputs;  ///< values that must also be there in ND, in the host's memory, as model inputs are
  /// Of one value from one Layout to another, both dense() and not the same; a value is converted once per Layout, however
  /// many nodes want it. Formats differ only where they matter to both sides.
  std::function<double(int value, const Layout& from, const Layout& to)> conversion_ns;
};

/// What a value in the Layout `made`, which is dense(), becomes for a reader that takes it in `wanted`.
Layout conversion_target(const Layout& made, const Layout& wanted);

/// The total of a choice of options, one per node.
double total_ns(const FormatProblem& problem, std::span<const int> choice);

/// Exact while few values are alive at a time (format_frontier.h): chains, residual blocks, inception blocks. Elsewhere
/// the best of several descents, each of which ends where no change of a single node helps.
std::vector<int> assign_formats(const FormatProblem& problem);

}  // namespace aoe::compiler
