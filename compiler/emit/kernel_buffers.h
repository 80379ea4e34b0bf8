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
/// The same with constants and a workspace of these elements.
KernelBuffers declare_buffers(loopnest::Builder& builder, const Task& task,
                              const std::vector<loopnest::Elements>& constants,
                              bool has_workspace = false, loopnest::Elements workspace = {});
/// The same where the first `count` inputs are read alike whether they are constants or not: constants are packed dense
/// into `kernel`, and `inputs` holds the buffers of all of them.
KernelBuffers declare_operands(loopnest::Builder& builder, const Task& task, std::size_t count,
                               int lanes, Kernel& kernel, bool has_workspace = false);

/// A kernel of one stage without a workspace.
Kernel jit_kernel(loopnest::Function stage, std::vector<PackedConstant> constants);

}  // namespace aoe::compiler
