// The way of a model from file to result, as a user goes it: import, passes, compilation, om file, executor.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/tensor.h"

namespace aoe::conformance {

/// Compiles the model, writes the om to a temporary directory, loads it from there and runs it once. Throws what any of
/// these steps throws.
std::vector<ConstantPtr> run_model(const std::filesystem::path& model,
                                   std::span<const ConstantPtr> inputs);

}  // namespace aoe::conformance
