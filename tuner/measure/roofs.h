// What the machine can do at most, measured: the two roofs of a roofline.
#pragma once

#include "bank/strategy.h"
#include "compiler/soc.h"

namespace aoe::tuner {

/// GFLOP/s of independent float32 multiply-adds in registers, on soc.threads threads together: the best of some tries, what
/// these cores can do right now.
double fma_peak_gflops(const compiler::Soc& soc);

/// GB/s that soc.threads threads together read from memory, of an array that no cache holds; the best of some tries.
double read_gb_s(const compiler::Soc& soc);

/// Both, in about half a second. Only of the machine that this runs on: its Soc's code is run.
bank::Roofs measure_roofs(const compiler::Soc& soc);

}  // namespace aoe::tuner
