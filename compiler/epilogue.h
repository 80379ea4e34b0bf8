// The elementwise operators as vector expressions: what generated kernels apply behind their
// anchor, and all that a FusedElementwise does.
#pragma once

#include <functional>
#include <optional>

#include "base/result.h"
#include "compiler/loopnest/loopnest.h"
#include "compiler/task.h"

namespace aoe::compiler {

/// Which element types the operands and the result of an epilogue may have.
enum class EpilogueTypes {
  kFloat,
  kBytes,  ///< float32, and int8 and uint8 where Dequantize reads or Quantize writes them
};
bool is_epilogue_type(DataType dtype, EpilogueTypes types);

/// Can every step of the task's epilogue be written as float32 vectors? Says which cannot, and why.
/// Shapes are the caller's business.
Result<void> supports_epilogue(const Task& task);

/// Reads task input i at the lanes being computed. Called at most once per input, and never for
/// absent inputs and constants of one element.
using LoadInput = std::function<loopnest::Vec(int input)>;

/// Emits the steps in order behind `anchor`; returns the last one's value, `anchor` itself when
/// there are none.
loopnest::Vec emit_epilogue(loopnest::Builder& builder, const Task& task, loopnest::Vec anchor,
                            const LoadInput& load);

/// The same for a FusedElementwise, which has no anchor.
loopnest::Vec emit_elementwise(loopnest::Builder& builder, const Task& task, int lanes,
                               const LoadInput& load);

/// The value of a constant input with a single element, of float32, int8 or uint8.
std::optional<float> scalar_constant(const TaskInput& input);

}  // namespace aoe::compiler
