// KernelBuffers: a task's buffers in the order of the kernel ABI (compiler/impl.h), so that every
// stage of a kernel declares the same ones.
#pragma once

#include <optional>
#include <vector>

#include "compiler/impl.h"

namespace aoe::compiler {

struct KernelBuffers {
  std::vector<std::optional<loopnest::Buffer>>
      inputs;  ///< by task input; empty when absent or constant
  std::vector<loopnest::Buffer> outputs;
  std::vector<loopnest::Buffer> constants;
  std::optional<loopnest::Buffer> workspace;
};

/// Declares all buffers. Outputs and the workspace are readable too: partial results may lie there
/// between passes.
KernelBuffers declare_buffers(loopnest::Builder& builder, const Task& task, std::size_t constants,
                              bool has_workspace);
/// The same with constants of these element types.
KernelBuffers declare_buffers(loopnest::Builder& builder, const Task& task,
                              const std::vector<DataType>& constants, bool has_workspace = false);

}  // namespace aoe::compiler
