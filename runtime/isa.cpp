// CPUID, as the compiler's builtins read it (they also ask whether the operating system saves the
// wide registers).
#include "runtime/isa.h"

namespace aoe::runtime {

bool host_supports(const std::string& isa) {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c");
  if (isa == "avx2") return avx2;
  if (isa != "avx512") return false;
  return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

std::string best_host_isa() {
  for (const char* isa : {"avx512", "avx2"})
    if (host_supports(isa)) return isa;
  return "x86_64";
}

}  // namespace aoe::runtime
