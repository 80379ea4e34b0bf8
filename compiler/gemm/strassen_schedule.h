// What the Impls of Strassen's product share: which Schedules there are, which one is the default, and what it may take.
#pragma once

#include "compiler/gemm/strassen_nest.h"
#include "compiler/impl.h"
#include "compiler/soc.h"

namespace aoe::compiler {

/// "No" where a half would be empty.
Result<void> supports_strassen(const MatMulShape& shape, const Soc& soc);

ScheduleSpace strassen_space(const MatMulShape& shape, const Soc& soc);
/// `flops` and `bytes` of the task.
Features strassen_features(const StrassenPlan& plan, double flops, double bytes, const Soc& soc);
double strassen_estimate_ns(const StrassenPlan& plan, double bytes, const Soc& soc);

}  // namespace aoe::compiler
