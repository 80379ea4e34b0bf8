// Plain tasks: of one element type, without an epilogue: what the generated memory-bound Impls take.
#pragma once

#include <initializer_list>
#include <string_view>

#include "compiler/impl.h"
#include "reference/tensors/axes.h"

namespace aoe::compiler {

/// One of `types`, float32 in input 0 and in the only output (of a maximum pooling bytes too), and no
/// epilogue.
Result<void> supports_plain(const Task& task, std::initializer_list<std::string_view> types);

/// The same of any element type, which input 0 and the output share.
Result<void> supports_typed(const Task& task, std::initializer_list<std::string_view> types);

/// The axis of a SoftmaxV2 or LogSoftmaxV2, in the meaning of its opset.
inline reference::AxisView softmax_view(const Task& task) {
  return reference::softmax_view(task.op.attrs, task.op.version, task.in(0).shape);
}

/// Input 0 and the output in `format`, everything else in ND.
FormatChoice plain_format(const Task& task, const std::string& name, Format format);

/// Time of a kernel bound by memory or by `operations_per_input` vector operations on each input
/// element.
double plain_estimate_ns(const Task& task, const Soc& soc, double operations_per_input);

}  // namespace aoe::compiler
