// RowsOf: which rows of an image a piece of a kernel computes, from where to where. The same for every kind of window, so
// that a kernel can carry out several of them row by row (compiler/chain/).
#pragma once

#include "compiler/conv/image_layout.h"
#include "compiler/conv/image_store.h"
#include "compiler/emit/kernel_buffers.h"

namespace aoe::compiler {

struct RowsOf {
  const ImageLayout& in;  ///< of inputs[0]
  const ImageStore& store;
  const KernelBuffers& buffers;  ///< by the task's inputs, and its own constants only
  loopnest::Int n;               ///< the image
  loopnest::Int begin, end;      ///< output rows
};

}  // namespace aoe::compiler
