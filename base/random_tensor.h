// Random tensors of any type, by seed: what candidates are measured and verified with.
#pragma once

#include <cstdint>

#include "base/tensor.h"

namespace aoe {

/// Uniform in [low, high] for floats, and over all bytes for int8 and uint8. Other integers are 0 or 1: valid as indices, counts and
/// flags alike.
ConstantPtr random_tensor(const TensorDesc& desc, std::uint64_t seed, double low = -1,
                          double high = 1);

}  // namespace aoe
