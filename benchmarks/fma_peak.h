// What the machine's vector units can do at most, measured.
#pragma once

#include "compiler/soc.h"

namespace aoe::benchmarks {

/// GFLOP/s of independent fused multiply-adds in registers, on soc.threads threads together: what
/// these cores can do right now.
double fma_peak_gflops(const compiler::Soc& soc);

}  // namespace aoe::benchmarks
