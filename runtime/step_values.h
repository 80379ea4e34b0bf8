// Steps that are computed from tensors rather than from pointers: whose shapes may be known only when they run.
#pragma once

#include <functional>
#include <vector>

#include "runtime/om.h"
#include "runtime/tensor_table.h"

namespace aoe::runtime {

/// Absent ones as absent tensors.
std::vector<Tensor> views_of(const std::vector<int>& ids, const TensorTable& tensors);

bool has_dynamic_outputs(const OmStep& step, const TensorTable& tensors);

/// Gives outputs whose shapes the om does not know those that follow from the inputs' values.
void allocate_outputs(const OmStep& step, std::span<const Tensor> inputs, TensorTable& tensors);

/// Calls f. Error(kFailure) that names the step when its op refuses the values.
void run_naming(const OmStep& step, const std::function<void()>& f);

}  // namespace aoe::runtime
