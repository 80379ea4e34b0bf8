// Steps that are computed from tensors rather than from pointers: what their operator's inference says of them before a run
// and in it. Shapes may be known only when they run.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/om/om.h"
#include "runtime/tensor_table.h"

namespace aoe::runtime {

/// Absent ones as absent tensors.
std::vector<Tensor> views_of(const std::vector<int>& ids, const TensorTable& tensors);

/// Where the operator makes something else of the step's inputs than the om says, or refuses them; empty: nothing is wrong that
/// can be told before a run.
std::string inference_fault(const Om& om, const OmStep& step);

/// Whether every run writes what the om says, so that none has to look.
bool is_certain(const Om& om, const OmStep& step);

/// With the values at hand, every shape must be found, and be what the om says where it says something. Gives outputs whose
/// shapes the om does not know their memory, which is that of tensor `shared` where there is one as large.
void prepare_outputs(const Om& om, const OmStep& step, std::span<const Tensor> inputs,
                     TensorTable& tensors, int shared = -1);

/// The first input of an operator that writes its output over it, where both are one buffer; -1: it never does.
int input_written_in_place(const OmStep& step);

/// Calls f. Error(kFailure) that names the step when its op refuses the values.
void run_naming(const OmStep& step, const std::function<void()>& f);

}  // namespace aoe::runtime
