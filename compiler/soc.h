// Soc: the hardware that code is generated for. Everything that knows the target sits behind it.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/target/target.h"
#include "graph/hardware.h"
#include "runtime/isa.h"

namespace aoe::compiler {

using runtime::Feature;

struct Soc {
  std::string version;  ///< soc_version: "x86_64-znver5-2t" = architecture, core model, threads
  const Target* target = find_target("avx2");
  /// The core that code is scheduled for, as LLVM names it: "znver5", "sapphirerapids", "x86-64-v3". It decides no
  /// instruction: those are the target's and the features', so that an om runs wherever what it names is there.
  std::string llvm_cpu;
  runtime::FeatureSet features;  ///< beyond the target; kernels that use one make the om ask for it
  int threads = 1;               ///< threads that kernels are tuned for and run with
  std::int64_t l1d_bytes = 32 << 10;
  std::int64_t l2_bytes = 1 << 20;
  std::int64_t l3_bytes = 16 << 20;

  int vector_lanes() const { return target->float_lanes(); }  ///< of float32; also c0 of NC1HWC0
  int vector_registers() const { return target->vector_registers(); }
  /// Of 32 bytes, not 64.
  bool has_short_vectors() const { return vector_lanes() <= 8; }
  bool has(Feature feature) const { return features.has(feature); }
};

/// The host's Soc for `threads` threads (0: OMP_NUM_THREADS, else all cores that this process may use). Throws Error(kOm) on a CPU below x86-64-v3 (AVX2, FMA).
Soc detect_soc(int threads = 0);

/// What rewrites of graphs may ask.
graph::Hardware hardware_of(const Soc& soc);

/// `auto` = the host. Otherwise a description from the configuration directory, `<dir>/<soc_version>.json`; the host's own version
/// string is accepted without a file. Throws Error(kUsage) that lists what is known.
Soc soc_from_version(const std::string& soc_version, const std::string& config_dir,
                     int threads = 0);

}  // namespace aoe::compiler
