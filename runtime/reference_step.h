// Carries out one kReference step, with shapes found on the way where the om does not know them.
#pragma once

#include "runtime/tensor_table.h"

namespace aoe::runtime {

/// Throws Error(kFailure) that names the step when its op refuses the values.
void run_reference_step(const OmStep& step, TensorTable& tensors);

}  // namespace aoe::runtime
