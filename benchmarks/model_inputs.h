// Inputs for both sides of a comparison.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/bound_om.h"

namespace aoe::benchmarks {

/// Of all inputs of the model: random, always the same: floats in [0, 1), bytes below 100, other integers 0 or 1, which are
/// legal as indices into any table. `feed`: "sr:16000" fills that input with this number instead. `sizes`: "x:1,3,224,224" of inputs
/// whose sizes are open. Throws Error(kUsage) where one is and `sizes` does not say it.
std::vector<NamedTensor> inputs_of(const BoundOm& om, const std::string& feed,
                                   const std::string& sizes = "");

}  // namespace aoe::benchmarks
