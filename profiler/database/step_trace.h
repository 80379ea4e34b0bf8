// Iterations: which op begins the forward pass and which ends the backward pass, and the times
// between them (STEP_TRACE).
#pragma once

#include <string>

#include "profiler/database/sqlite.h"

namespace aoe::profiler {

/// Fills STEP_TRACE from MODEL_EXECUTION, TASK and MODEL_OP, and with the steps of PROGRAM_STEP. A point is the op of that name; an
/// empty name is found by the phases of the op table: the first forward op of a model that has
/// backward ops, and the last backward op. Without a point its times stay NULL, as in inference; so do all without `with_points`.
void derive_step_trace(Connection& connection, const std::string& fp_point,
                       const std::string& bp_point, bool with_points = true);

}  // namespace aoe::profiler
