// Float16 without instructions for it: values are rounded to float16 where a precision mode wants them to be, and computed
// with in float32. Results are those of float16 operands with float32 sums, on every machine.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/passes.h"

namespace aoe::graph {

enum class Float16Rounding {
  kOff,
  kFactors,  ///< what convolutions and products multiply (cube_fp16in_fp32out)
  kValues    ///< besides: the model's inputs, constants, and what each operator gives (force_fp16)
};

/// A pass for PassOptions::also. Finite constants beyond float16's range become its largest number. `float32_nodes`: names of convolutions and products whose factors stay as they are.
/// `rounded` (may be nullptr) receives the names of those that are rounded, each once.
Pass float16_pass(Float16Rounding rounding, std::set<std::string> float32_nodes,
                  std::vector<std::string>* rounded);

/// Is such a rounding among what the operator does? Results that differ by a last bit before it may then differ by a
/// step of float16.
bool rounds_to_float16(const reference::OpCall& op);

}  // namespace aoe::graph
