// Steps that are computed from tensors rather than from pointers: what their operator's inference says of them before a run
// and in it. Shapes may be known only when they run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/om/om.h"
#include "runtime/tensor_table.h"

namespace aoe::runtime {

/// Inputs or outputs of a step as its runs see them, absent ones as absent tensors. Kept from run to run, so that none allocates.
class StepTensors {
 public:
  /// All outlive this.
  StepTensors(const Om& om, const std::vector<int>& ids, const TensorTable& tensors);
  /// Until the next call.
  std::span<const Tensor> now();

 private:
  const std::vector<int>& ids_;
  const TensorTable& tensors_;
  std::vector<Tensor> views_;
  std::vector<std::size_t>
      changing_;  ///< those that lie elsewhere, or have another shape, in the next run
};

/// Where the operator makes something else of the step's inputs than the om says, or refuses them; empty: nothing is wrong that
/// can be told before a run.
std::string inference_fault(const Om& om, const OmStep& step);

/// Whether every run writes what the om says, so that none has to look.
bool is_certain(const Om& om, const OmStep& step);

/// Whether a tensor that was found may be what the om declares.
bool agrees(const TensorDesc& found, const TensorDesc& declared);

/// The first input of an operator that writes its output over it, where both are one buffer; -1: it never does.
int input_written_in_place(const OmStep& step);

/// Throws on what is being thrown, so that it names the step: Error(kFailure) when its op refuses the values.
[[noreturn]] void end_naming(const OmStep& step);

/// Calls f; what it throws names the step.
template <typename F>
void run_naming(const OmStep& step, const F& f) {
  try {
    f();
  } catch (...) {
    end_naming(step);
  }
}

}  // namespace aoe::runtime
