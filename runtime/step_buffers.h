// StepBuffers: the pointers that kernels take, by step, in the order that compiler/impl.h lays down for Kernel.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/tensor_table.h"

namespace aoe::runtime {

/// Tensor ids in the order of the ABI: present inputs, outputs (-1: unused), constants, workspace.
std::vector<int> buffer_tensors(const OmStep& step);

class StepBuffers {
 public:
  StepBuffers(const Om& om, const TensorTable& tensors);

  /// Lies where it is as long as this object. nullptr for an unused output, which keeps its place.
  std::span<void* const> of(std::size_t step);
  /// Their sizes; 0 for an unused output.
  std::vector<std::size_t> bytes_of(std::size_t step) const {
    return bytes_of(om_, om_.steps[step]);
  }
  static std::vector<std::size_t> bytes_of(const Om& om, const OmStep& step);

  /// Follows the callers' buffers, which `tensors` has been bound to.
  void bind();

 private:
  struct Slot {
    void** pointer;
    int tensor;
  };

  const Om& om_;
  const TensorTable& tensors_;
  std::vector<std::vector<void*>> buffers_;  ///< by step; filled when asked for
  std::vector<Slot> slots_;                  ///< what lies in callers' buffers
};

}  // namespace aoe::runtime
