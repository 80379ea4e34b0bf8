// Compares what a model computes with files of what it should: DIR/NAME.npy, as --output-dir writes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/aoe_run/session.h"

namespace aoe::tools {

struct OutputDifference {
  std::string name;
  /// Of floating-point numbers the largest difference, as a share of the reference's range; of others the share of elements
  /// that differ. NaN where one of both alone is not a number.
  double error = 0;
  bool is_within = false;
};

/// Of all outputs of the last run. Numbers that are no floating-point numbers must be equal. Throws Error(kData) when a file is
/// missing or of another type or shape.
std::vector<OutputDifference> compare_with(const std::filesystem::path& directory,
                                           const Session& session, double tolerance);

}  // namespace aoe::tools
