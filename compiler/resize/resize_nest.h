// The loop nest of Resize and Upsample.
//
// Where the innermost dimension keeps its size (channels, in the image Formats), lanes run along it and each output is a
// weighted sum of whole vectors. Where it is resized (rows of NCHW), the other axes are blended into one row in scratch
// memory first, and lanes then pick its elements by the table: out of two neighbouring vectors of the row where these have
// all that a vector of outputs reads, else one by one.
#pragma once

#include "compiler/impl.h"
#include "compiler/resize/resize_axes.h"

namespace aoe::compiler {

Kernel build_resize(const Task& task, const ResizeAxes& axes, int lanes);

}  // namespace aoe::compiler
