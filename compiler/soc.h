// Soc: the hardware that code is generated for. Everything that knows the target sits behind it.
#pragma once

#include <cstdint>
#include <string>

namespace aoe::compiler {

/// kAvx2: all of x86-64-v3; kAvx512: all of x86-64-v4.
enum class Isa { kAvx2, kAvx512 };

struct Soc {
  std::string version;  ///< soc_version: "x86_64-znver5-2t" = architecture, core model, threads
  Isa isa = Isa::kAvx2;
  /// The core that code is scheduled for, as LLVM names it: "znver5", "sapphirerapids", "x86-64-v3". It decides no
  /// instruction: those are the `isa`'s, so that an om runs wherever the `isa` that it names is there.
  std::string llvm_cpu;
  bool has_bf16 = false;  ///< AVX512-BF16: products of bfloat16 pairs, summed up in float32
  bool has_fp16 = false;  ///< AVX512-FP16: arithmetic in float16
  bool has_vnni =
      false;  ///< AVX512-VNNI, or AVX-VNNI with kAvx2: products of byte quads, summed up in int32
  int vector_lanes = 8;       ///< float32 lanes: 16 with AVX-512, 8 with AVX2; also c0 of NC1HWC0
  int vector_registers = 16;  ///< 32 with AVX-512
  int threads = 1;            ///< threads that kernels are tuned for and run with
  std::int64_t l1d_bytes = 32 << 10;
  std::int64_t l2_bytes = 1 << 20;
  std::int64_t l3_bytes = 16 << 20;
};

/// The host's Soc for `threads` threads (0: OMP_NUM_THREADS, else all cores that this process may use). Throws Error(kOm) on a CPU below x86-64-v3 (AVX2, FMA).
Soc detect_soc(int threads = 0);

/// `auto` = the host. Otherwise a description from the configuration directory, `<dir>/<soc_version>.json`; the host's own version
/// string is accepted without a file. Throws Error(kUsage) that lists what is known.
Soc soc_from_version(const std::string& soc_version, const std::string& config_dir,
                     int threads = 0);

}  // namespace aoe::compiler
