// Formulas all of whose values have one type, but for conditions, on vectors: operands are read where they lie.
#pragma once

#include <span>

#include "native/threads.h"
#include "reference/formula.h"

namespace aoe::native {

/// Gives what reference::evaluate() gives, on all threads; false, and nothing else, where the formula has other types or functions.
bool evaluate_typed(const reference::Formula& formula, std::span<const Tensor> inputs,
                    const Tensor& output, Threads& threads);

}  // namespace aoe::native
