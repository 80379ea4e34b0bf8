// Declares a kernel's buffers in ABI order.
#include "compiler/emit/kernel_buffers.h"

#include "compiler/emit/broadcast_layout.h"

namespace aoe::compiler {
using loopnest::Access;

KernelBuffers declare_buffers(loopnest::Builder& builder, const Task& task, std::size_t constants,
                              bool has_workspace) {
  return declare_buffers(builder, task, std::vector<Elements>(constants), has_workspace);
}

KernelBuffers declare_buffers(loopnest::Builder& builder, const Task& task,
                              const std::vector<Elements>& constants, bool has_workspace,
                              Elements workspace) {
  KernelBuffers buffers;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const TaskInput& input = task.inputs[i];
    if (!input.is_present() || input.constant) {
      buffers.inputs.emplace_back();
    } else {
      buffers.inputs.emplace_back(
          builder.buffer("input" + std::to_string(i), Access::kRead, input.desc.dtype));
    }
  }
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    buffers.outputs.push_back(
        builder.buffer("output" + std::to_string(i), Access::kReadWrite, task.outputs[i].dtype));
  }
  for (std::size_t i = 0; i < constants.size(); ++i) {
    buffers.constants.push_back(
        builder.buffer("constant" + std::to_string(i), Access::kRead, constants[i]));
  }
  if (has_workspace) buffers.workspace = builder.buffer("workspace", Access::kReadWrite, workspace);
  return buffers;
}

KernelBuffers declare_operands(loopnest::Builder& builder, const Task& task, std::size_t count,
                               int lanes, Kernel& kernel, bool has_workspace) {
  std::vector<Elements> types;
  for (std::size_t i = 0; i < count; ++i) {
    if (!task.inputs[i].constant) continue;
    kernel.constants.push_back(
        packed_in_format(task.inputs[i].constant, task.in(i).shape, Format::kND, lanes));
    types.push_back(task.in(i).dtype);
  }
  KernelBuffers buffers = declare_buffers(builder, task, types, has_workspace);
  std::size_t constant = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (task.inputs[i].constant) buffers.inputs[i] = buffers.constants[constant++];
  return buffers;
}

Kernel jit_kernel(loopnest::Function stage, std::vector<PackedConstant> constants) {
  Kernel kernel = kernel_for("jit");
  kernel.stages.push_back(std::move(stage));
  kernel.constants = std::move(constants);
  return kernel;
}

}  // namespace aoe::compiler
