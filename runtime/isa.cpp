// CPUID, as the compiler's builtins read it (they also ask whether the operating system saves the
// wide registers).
#include "runtime/isa.h"

namespace aoe::runtime {

bool host_supports(const std::string& isa) {
  if (isa == "avx2") return __builtin_cpu_supports("x86-64-v3");
  return isa == "avx512" && __builtin_cpu_supports("x86-64-v4");
}

std::string best_host_isa() {
  for (const char* isa : {"avx512", "avx2"})
    if (host_supports(isa)) return isa;
  return "x86_64";
}

}  // namespace aoe::runtime
