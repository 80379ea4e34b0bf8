// Rough times from flops and bytes, for ranking Impls before anything was measured.
#pragma once

#include <cstdint>

#include "compiler/soc.h"

namespace aoe::compiler {

/// Float32 FLOPs per nanosecond of all threads: lanes, FMA ports and clock of the target, not
/// measured.
double peak_gflops(const Soc& soc);

/// Bytes per nanosecond between main memory and all threads, not measured either.
double memory_gb_s(const Soc& soc);

/// Nanoseconds of `flops` on all threads at `efficiency` (0..1] of the vector peak.
double compute_ns(const Soc& soc, double flops, double efficiency);

/// Nanoseconds to move `bytes` once by all threads, from the cache level that a working set of that
/// size lives in.
double memory_ns(const Soc& soc, double bytes);
/// Of a copy. What is written beyond L2 is read into the cache first.
double copy_ns(const Soc& soc, double read_bytes, double written_bytes);

/// Share of the threads' time that is used when `iterations` equal pieces of work are spread over
/// them: (0..1].
double parallel_balance(const Soc& soc, std::int64_t iterations);

/// Multiply-adds of float32 that a dot product of pairs of bfloat16 takes the time of. (Processors with tiles leave pairs to these: four on
/// an Emerald Rapids core, where `gemm_bf16` of 1024x1024 by 1024x1024 runs at 84 GFLOP/s and `gemm_packed` at 164; one on Zen 4 and 5.)
double pair_dot_cost(const Soc& soc);

/// Handing a stage to the threads and waiting for them.
double launch_ns(const Soc& soc);

}  // namespace aoe::compiler
