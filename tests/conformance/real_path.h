// The way of a model from file to result, as a user goes it: import, passes, compilation, om file, executor.
#pragma once

#include <vector>

#include "tests/conformance/node_case.h"

namespace aoe::conformance {

/// Compiles the case's model, writes the om to a temporary directory, loads it from there and runs it once. Throws what
/// any of these steps throws.
std::vector<ConstantPtr> run_case(const NodeCase& node_case);

}  // namespace aoe::conformance
