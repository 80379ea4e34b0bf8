// Detects the host's Soc from CPUID and /sys, and reads descriptions of other ones.
// Tested by tests/compiler/soc_test.cpp.
#include "compiler/soc.h"

#include <cpuid.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "runtime/isa.h"

namespace aoe::compiler {
namespace fs = std::filesystem;
namespace {

constexpr const char* kArchitecture = "x86_64-";

// ---- the core's name ----

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

void set_isa(Soc& soc, const std::string& isa) {
  const bool is_wide = isa.starts_with("avx512");
  soc.has_fp16 = isa == "avx512_fp16";
  soc.has_bf16 = soc.has_fp16 || isa == "avx512_bf16";
  soc.has_vnni = soc.has_bf16 || isa.ends_with("_vnni");
  soc.isa = is_wide ? Isa::kAvx512 : Isa::kAvx2;
  soc.vector_lanes = is_wide ? 16 : 8;
  soc.vector_registers = is_wide ? 32 : 16;
}

// ---- caches and threads ----

/// Bytes of the host's cache, from /sys (works in containers, and tells what sysconf hides on some
/// cores).
std::int64_t cache_bytes(int level, std::int64_t fallback) {
  for (int index = 0; index < 8; ++index) {
    const fs::path dir = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    std::error_code status;
    if (!fs::exists(dir / "size", status)) break;
    if (std::atoi(read_file(dir / "level", ExitCode::kFailure).c_str()) != level) continue;
    if (read_file(dir / "type", ExitCode::kFailure).starts_with("Instruction")) continue;
    const std::string text = read_file(dir / "size", ExitCode::kFailure);  // "48K", "32M"
    const std::int64_t unit = text.find('M') != std::string::npos   ? 1 << 20
                              : text.find('K') != std::string::npos ? 1 << 10
                                                                    : 1;
    return std::atoll(text.c_str()) * unit;
  }
  constexpr int kNames[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  const long bytes = ::sysconf(kNames[level - 1]);
  return bytes > 0 ? bytes : fallback;
}

/// As OpenMP itself decides: OMP_NUM_THREADS, else the cores this process may use.
int default_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const int given = std::atoi(text);  // "4,2" asks for 4 on the outermost level
    if (given > 0) return given;
  }
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

std::string version_of(const std::string& core, int threads) {
  return kArchitecture + core + "-" + std::to_string(threads) + "t";
}

// ---- versions ----

/// "x86_64-znver4-8t" -> {"x86_64-znver4", 8}; no thread count -> 0.
struct ParsedVersion {
  std::string base;
  int threads = 0;
};

ParsedVersion parse_version(const std::string& version) {
  const std::size_t dash = version.rfind('-');
  if (dash == std::string::npos || version.back() != 't') return {version, 0};
  const std::string digits = version.substr(dash + 1, version.size() - dash - 2);
  if (digits.empty() || digits.size() > 4 ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return {version, 0};
  return {version.substr(0, dash), std::stoi(digits)};
}

int agreed_threads(const std::string& version, int in_version, int asked) {
  if (in_version > 0 && asked > 0 && in_version != asked)
    throw Error(ExitCode::kUsage,
                version + " stands for " + std::to_string(in_version) + " threads, but " +
                    std::to_string(asked) + " are asked for",
                "--soc_version", "leave one of the two out");
  return in_version > 0 ? in_version : asked;
}

std::string known_versions(const std::string& config_dir) {
  std::vector<std::string> names;
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(config_dir, status))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  std::string text = "auto, " + detect_soc().version;
  for (const std::string& each : names) text += ", " + each;
  return text;
}

Soc read_description(const fs::path& file, int threads) {
  try {
    const auto j = nlohmann::json::parse(read_file(file, ExitCode::kUsage));
    Soc soc;
    const std::string isa = j.at("isa");
    if (std::ranges::find(runtime::kIsas, isa) == std::end(runtime::kIsas))
      throw Error(ExitCode::kUsage,
                  "isa is '" + isa +
                      "', must be avx2, avx2_vnni, avx512, avx512_vnni, avx512_bf16 or avx512_fp16",
                  file.string());
    set_isa(soc, isa);
    j.at("llvm_cpu").get_to(soc.llvm_cpu);
    j.at("l1d_bytes").get_to(soc.l1d_bytes);
    j.at("l2_bytes").get_to(soc.l2_bytes);
    j.at("l3_bytes").get_to(soc.l3_bytes);
    soc.threads = threads > 0 ? threads : j.at("threads").get<int>();
    soc.version = file.stem().string() + "-" + std::to_string(soc.threads) + "t";
    return soc;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ExitCode::kUsage, std::string("is not a SoC description: ") + e.what(),
                file.string());
  }
}

}  // namespace

Soc detect_soc(int threads) {
  const std::string isa = runtime::best_host_isa();
  if (isa == "x86_64")
    throw Error(
        ExitCode::kOm,
        "this processor is below x86-64-v3 (AVX2, FMA, BMI2, F16C), which is the least this "
        "engine needs");
  Soc soc;
  set_isa(soc, isa);
  const std::string generic = isa.starts_with("avx2") ? "v3" : "v4";
  const std::string core = known_core_name().value_or(generic);
  soc.llvm_cpu = core == generic ? "x86-64-" + generic : core;
  soc.threads = threads > 0 ? threads : default_threads();
  soc.l1d_bytes = cache_bytes(1, soc.l1d_bytes);
  soc.l2_bytes = cache_bytes(2, soc.l2_bytes);
  soc.l3_bytes = cache_bytes(3, soc.l3_bytes);
  soc.version = version_of(core, soc.threads);
  return soc;
}

Soc soc_from_version(const std::string& soc_version, const std::string& config_dir, int threads) {
  if (soc_version == "auto") return detect_soc(threads);
  const ParsedVersion parsed = parse_version(soc_version);
  const int agreed = agreed_threads(soc_version, parsed.threads, threads);
  const Soc host = detect_soc(agreed);
  if (parse_version(host.version).base == parsed.base) return host;
  const fs::path file = fs::path(config_dir) / (parsed.base + ".json");
  std::error_code status;
  if (parsed.base.find('/') == std::string::npos && fs::is_regular_file(file, status))
    return read_description(file, agreed);
  throw Error(ExitCode::kUsage, "unknown soc_version '" + soc_version + "'", "--soc_version",
              "known are " + known_versions(config_dir));
}

}  // namespace aoe::compiler
