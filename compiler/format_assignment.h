// Formats for the whole model: which option (Impl in a Format) each op takes, so that op times plus the conversions
// between ops are least. Knows nothing of tensors and kernels: numbers in, choices out.
// Tested by tests/compiler/format_assignment_test.cpp against brute force.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/data_type.h"

namespace aoe::compiler {

/// One way to run a node: its time, and the Format in which it takes and gives each value. kUndefined = does not matter.
struct FormatOption {
  double time_ns = 0;
  std::vector<Format> inputs;
  std::vector<Format> outputs;
};

struct FormatNode {
  std::vector<FormatOption> options;  ///< at least one
  std::vector<int> inputs;            ///< value ids; -1 = absent
  std::vector<int> outputs;
};

struct FormatProblem {
  std::vector<FormatNode> nodes;  ///< producers before consumers
  int value_count = 0;
  std::vector<int> model_outputs;  ///< values that must also be there in ND
  /// Of one value from one Format to another; a value is converted once per Format, however many nodes want it.
  std::function<double(int value, Format from, Format to)> conversion_ns;
};

/// The total of a choice of options, one per node.
double total_ns(const FormatProblem& problem, std::span<const int> choice);

/// Exact while few values are alive at a time (format_frontier.h): chains, residual blocks, inception blocks. Elsewhere
/// the best of several descents, each of which ends where no change of a single node helps.
std::vector<int> assign_formats(const FormatProblem& problem);

/// NCHW and ND store the same bytes.
inline Format dense(Format format) {
  return format == Format::kNCHW ? Format::kND : format;
}

}  // namespace aoe::compiler
