// CPUID, as the compiler's builtins read it (they also ask whether the operating system saves the
// wide registers).
#include "runtime/isa.h"

namespace aoe::runtime {

bool host_supports(std::string_view isa) {
  if (isa == "avx2") return __builtin_cpu_supports("x86-64-v3");
  if (isa == "avx2_vnni") return host_supports("avx2") && __builtin_cpu_supports("avxvnni");
  if (isa == "avx512") return __builtin_cpu_supports("x86-64-v4");
  if (isa == "avx512_vnni") return host_supports("avx512") && __builtin_cpu_supports("avx512vnni");
  if (isa == "avx512_fp16")
    return host_supports("avx512_bf16") && __builtin_cpu_supports("avx512fp16");
  return isa == "avx512_bf16" && host_supports("avx512_vnni") &&
         __builtin_cpu_supports("avx512bf16");
}

std::string best_host_isa() {
  for (const std::string_view isa : kIsas)
    if (host_supports(isa)) return std::string(isa);
  return "x86_64";
}

}  // namespace aoe::runtime
