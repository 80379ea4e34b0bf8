// Elementwise steps as vectors: what generated kernels apply behind their anchor, and all that elementwise kernels do.
// What a step computes is the formula of its operator (reference/formula.h).
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

/// Has every step of the task's epilogue a vector form, behind an anchor in float32? Says which has not, and why. Shapes
/// are the caller's business.
Result<void> supports_epilogue(const Task& task);

/// Does a step compute a function (exp, erf, a power, ...), which takes dozens of instructions?
bool has_functions(const Task& task);

/// Reads task input i at the lanes being computed. Called at most once per input, and never for
/// absent inputs and constants of one element.
using LoadInput = std::function<loopnest::Vec(int input)>;
/// The same as lanes of a type; once per input and type.
using LoadLanes = std::function<loopnest::Vec(int input, loopnest::Type)>;

/// Emits the steps in order behind `anchor`; returns the last one's value as a store takes it, `anchor` itself
/// when there are none.
loopnest::Vec emit_epilogue(loopnest::Builder& builder, const Task& task, loopnest::Vec anchor,
                            const LoadInput& load);

/// The same for an elementwise op or a group of them, which has no anchor: what is to be stored.
loopnest::Vec emit_elementwise(loopnest::Builder& builder, const Task& task, int lanes,
                               const LoadLanes& load);

/// The value of a constant input with a single element.
std::optional<double> scalar_constant(const TaskInput& input);

}  // namespace aoe::compiler
