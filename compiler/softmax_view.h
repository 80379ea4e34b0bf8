// The axis of a SoftmaxV2 or LogSoftmaxV2, in the meaning of its opset.
#pragma once

#include "compiler/task.h"
#include "reference/axes.h"

namespace aoe::compiler {

/// Before opset 13 all axes from `axis` on were one.
reference::AxisView softmax_view(const Task& task);

}  // namespace aoe::compiler
