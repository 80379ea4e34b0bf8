// Formulas of operators as vectors of the loop-nest language.
#pragma once

#include <optional>
#include <span>

#include "compiler/emit/lanes.h"
#include "reference/formula.h"

namespace aoe::compiler {

/// Emits a formula that vector_form() gave.
Lanes emit_formula(const reference::Formula& formula,
                   std::span<const std::optional<Lanes>> operands, int lanes);

}  // namespace aoe::compiler
