// Reads the core's name from CPUID.
#include "runtime/host_soc.h"

#include <cpuid.h>
#include <sys/utsname.h>

#include <fstream>
#include <optional>

#include "base/log.h"
#include "runtime/isa.h"
#include "runtime/threads/host_cores.h"

namespace aoe::runtime {
namespace {

constexpr const char* kArchitecture = "x86_64-";

struct Cpu {
  std::string vendor;
  unsigned family = 0;
  unsigned model = 0;
};

Cpu read_cpu() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  Cpu cpu;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) return cpu;
  for (const unsigned word : {ebx, edx, ecx})
    for (int byte = 0; byte < 4; ++byte) cpu.vendor += static_cast<char>(word >> (8 * byte) & 0xff);
  __get_cpuid(1, &eax, &ebx, &ecx, &edx);
  cpu.family = (eax >> 8 & 0xf) + ((eax >> 8 & 0xf) == 0xf ? eax >> 20 & 0xff : 0);
  cpu.model = (eax >> 4 & 0xf) | (eax >> 16 & 0xf) << 4;
  return cpu;
}

struct CoreRow {
  const char* vendor;
  unsigned family, first_model, last_model;
  const char* name;  ///< as LLVM spells it
};
constexpr CoreRow kCores[] = {
    {"AuthenticAMD", 0x17, 0x00, 0x2f, "znver1"},
    {"AuthenticAMD", 0x17, 0x30, 0xff, "znver2"},
    {"AuthenticAMD", 0x19, 0x00, 0x0f, "znver3"},
    {"AuthenticAMD", 0x19, 0x10, 0x1f, "znver4"},
    {"AuthenticAMD", 0x19, 0x20, 0x5f, "znver3"},
    {"AuthenticAMD", 0x19, 0x60, 0xaf, "znver4"},
    {"AuthenticAMD", 0x1a, 0x00, 0xff, "znver5"},
    {"GenuineIntel", 6, 0x3c, 0x3c, "haswell"},
    {"GenuineIntel", 6, 0x3f, 0x3f, "haswell"},
    {"GenuineIntel", 6, 0x45, 0x46, "haswell"},
    {"GenuineIntel", 6, 0x3d, 0x3d, "broadwell"},
    {"GenuineIntel", 6, 0x47, 0x47, "broadwell"},
    {"GenuineIntel", 6, 0x4f, 0x4f, "broadwell"},
    {"GenuineIntel", 6, 0x56, 0x56, "broadwell"},
    {"GenuineIntel", 6, 0x4e, 0x4e, "skylake"},
    {"GenuineIntel", 6, 0x5e, 0x5e, "skylake"},
    {"GenuineIntel", 6, 0x8e, 0x8e, "skylake"},
    {"GenuineIntel", 6, 0x9e, 0x9e, "skylake"},
    {"GenuineIntel", 6, 0xa5, 0xa6, "skylake"},
    {"GenuineIntel", 6, 0x55, 0x55, "skylake-avx512"},
    {"GenuineIntel", 6, 0x6a, 0x6a, "icelake-server"},
    {"GenuineIntel", 6, 0x6c, 0x6c, "icelake-server"},
    {"GenuineIntel", 6, 0x7d, 0x7e, "icelake-client"},
    {"GenuineIntel", 6, 0x8c, 0x8d, "tigerlake"},
    {"GenuineIntel", 6, 0x8f, 0x8f, "sapphirerapids"},
    {"GenuineIntel", 6, 0x97, 0x97, "alderlake"},
    {"GenuineIntel", 6, 0x9a, 0x9a, "alderlake"},
    {"GenuineIntel", 6, 0xb7, 0xb7, "raptorlake"},
    {"GenuineIntel", 6, 0xba, 0xba, "raptorlake"},
    {"GenuineIntel", 6, 0xbf, 0xbf, "raptorlake"},
    {"GenuineIntel", 6, 0xad, 0xae, "graniterapids"},
    {"GenuineIntel", 6, 0xcf, 0xcf, "emeraldrapids"},
};

/// std::nullopt for a core that is newer or rarer than the table: the generic level of its ISA
/// serves.
std::optional<std::string> known_core_name() {
  const Cpu cpu = read_cpu();
  for (const CoreRow& row : kCores)
    if (cpu.vendor == row.vendor && cpu.family == row.family && cpu.model >= row.first_model &&
        cpu.model <= row.last_model)
      return row.name;
  return std::nullopt;
}

/// The level of x86-64 whose instructions the core has, where nothing better is known of it.
std::string generic_core_name() {
  return best_host_isa().starts_with("avx2") ? "v3" : "v4";
}

}  // namespace

int default_threads() {
  if (const int given = openmp_threads(); given > 0) return given;
  static const int threads = [] {
    const HostCores host = host_cores();
    logger("runtime")->info("{}", host.to_text());
    return host.usable();
  }();
  return threads;
}

std::string host_llvm_cpu() {
  return known_core_name().value_or("x86-64-" + generic_core_name());
}

std::string host_soc_version(int threads) {
  return kArchitecture + known_core_name().value_or(generic_core_name()) + "-" +
         std::to_string(threads > 0 ? threads : default_threads()) + "t";
}

HostIdentity host_identity() {
  HostIdentity host;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.starts_with("model name")) host.cpu = line.substr(colon + 2);
    if (line.starts_with("microcode")) host.microcode = line.substr(colon + 2);
  }
  utsname system{};
  if (::uname(&system) == 0) host.kernel = std::string(system.sysname) + " " + system.release;
  return host;
}

}  // namespace aoe::runtime
