// The first stage of a direct convolution in bfloat16: it rounds the input into the workspace, as pairs of neighbouring
// input channels, from which the nest reads it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler/conv/direct_nest.h"
#include "compiler/emit/kernel_buffers.h"

namespace aoe::compiler {

/// Of every stage: the workspace is there when the cut is of bfloat16.
KernelBuffers declare_direct(loopnest::Builder& builder, const Task& task, const DirectCut& cut,
                             std::size_t constants);

/// What round_direct_input() writes, in int32.
std::int64_t rounded_elements(const Task& task, const DirectCut& cut);

loopnest::Function round_direct_input(const Task& task, const DirectCut& cut,
                                      std::size_t constants);

}  // namespace aoe::compiler
