// CPUID, as the compiler's builtins read it (they also ask whether the operating system saves the
// wide registers).
#include "runtime/isa.h"

namespace aoe::runtime {

bool host_supports(const std::string& isa) {
  if (isa == "avx2") return __builtin_cpu_supports("x86-64-v3");
  if (isa == "avx512") return __builtin_cpu_supports("x86-64-v4");
  return isa == "avx512_bf16" && host_supports("avx512") && __builtin_cpu_supports("avx512bf16");
}

std::string best_host_isa() {
  for (const char* isa : {"avx512_bf16", "avx512", "avx2"})
    if (host_supports(isa)) return isa;
  return "x86_64";
}

}  // namespace aoe::runtime
