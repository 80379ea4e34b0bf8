// Detects the host's Soc (its name: runtime/host_soc.h) and its caches from /sys, and reads descriptions of other ones.
// Tested by tests/compiler/soc_test.cpp.
#include "compiler/soc.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "compiler/soc_json.h"
#include "runtime/host_soc.h"

namespace aoe::compiler {
namespace fs = std::filesystem;
namespace {

void set_isa(Soc& soc, const runtime::IsaRow& isa) {
  soc.target = find_target(isa.base);
  AOE_CHECK(soc.target != nullptr, "there is no target " + std::string(isa.base));
  soc.features = runtime::features_of(isa);
}

// ---- caches ----

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

/// "avx2, avx2_vnni or avx512".
std::string known_isas() {
  const std::span<const runtime::IsaRow> rows = runtime::isa_table();
  std::string text;
  for (const runtime::IsaRow& row : rows)
    text += (text.empty() ? "" : &row == &rows.back() ? " or " : ", ") + std::string(row.word);
  return text;
}

Error not_a_description(const nlohmann::json::exception& cause, const std::string& where) {
  return Error(ExitCode::kUsage, std::string("is not a SoC description: ") + cause.what(), where);
}

/// But for its version. `threads` > 0: not those of the description.
Soc read_description(const nlohmann::json& j, const std::string& where, int threads) {
  try {
    Soc soc;
    const std::string isa = j.at("isa");
    const runtime::IsaRow* row = runtime::find_isa(isa);
    if (row == nullptr)
      throw Error(ExitCode::kUsage, "isa is '" + isa + "', must be " + known_isas(), where);
    set_isa(soc, *row);
    j.at("llvm_cpu").get_to(soc.llvm_cpu);
    j.at("l1d_bytes").get_to(soc.l1d_bytes);
    j.at("l2_bytes").get_to(soc.l2_bytes);
    j.at("l3_bytes").get_to(soc.l3_bytes);
    soc.threads = threads > 0 ? threads : j.at("threads").get<int>();
    return soc;
  } catch (const nlohmann::json::exception& e) {
    throw not_a_description(e, where);
  }
}

Soc read_description(const fs::path& file, int threads) {
  const std::string text = read_file(file, ExitCode::kUsage);
  nlohmann::json j;
  try {
    j = parse_json(text);
  } catch (const nlohmann::json::exception& e) {
    throw not_a_description(e, file.string());
  }
  Soc soc = read_description(j, file.string(), threads);
  soc.version = file.stem().string() + "-" + std::to_string(soc.threads) + "t";
  return soc;
}

}  // namespace

nlohmann::json to_json(const Soc& soc) {
  return {
      {"soc_version", soc.version}, {"isa", runtime::isa_word(soc.target->name(), soc.features)},
      {"llvm_cpu", soc.llvm_cpu},   {"l1d_bytes", soc.l1d_bytes},
      {"l2_bytes", soc.l2_bytes},   {"l3_bytes", soc.l3_bytes},
      {"threads", soc.threads}};
}

Soc soc_from_json(const nlohmann::json& json, const std::string& where) {
  Soc soc = read_description(json, where, 0);
  soc.version = json.value("soc_version", "");
  if (soc.version.empty() || soc.version.find('/') != std::string::npos || soc.threads < 1)
    throw Error(ExitCode::kUsage, "is not a SoC description: soc_version or threads", where);
  return soc;
}

graph::Hardware hardware_of(const Soc& soc) {
  constexpr double kSustained = 0.78;  // of the rate at which instructions can be issued
  const Costs& costs = soc.target->costs();
  return {
      .threads = soc.threads,
      .l2_bytes = soc.l2_bytes,
      .l3_bytes = soc.l3_bytes,
      .flops_per_ns = kSustained * costs.cycles_per_ns * costs.fma_ports * 2 * soc.vector_lanes(),
      .l3_bytes_per_ns = costs.fetched_l3_bytes_per_ns,
      .memory_bytes_per_ns = costs.fetched_bytes_per_ns,
      .products_per_element = costs.products_per_element,
      .strassen_row_columns = costs.strassen_row_columns,
      .strassen_result_steps = costs.strassen_result_steps};
}

Soc detect_soc(int threads) {
  const runtime::IsaRow* isa = runtime::find_isa(runtime::best_host_isa());
  if (isa == nullptr)
    throw Error(
        ExitCode::kOm,
        "this processor is below x86-64-v3 (AVX2, FMA, BMI2, F16C), which is the least this "
        "engine needs");
  Soc soc;
  set_isa(soc, *isa);
  soc.llvm_cpu = runtime::host_llvm_cpu();
  soc.threads = threads > 0 ? threads : runtime::default_threads();
  soc.l1d_bytes = cache_bytes(1, soc.l1d_bytes);
  soc.l2_bytes = cache_bytes(2, soc.l2_bytes);
  soc.l3_bytes = cache_bytes(3, soc.l3_bytes);
  soc.version = runtime::host_soc_version(soc.threads);
  return soc;
}

Soc soc_from_version(const std::string& soc_version, const std::string& config_dir, int threads) {
  if (soc_version == "auto") return detect_soc(threads);
  const ParsedVersion parsed = parse_version(soc_version);
  const int agreed = agreed_threads(soc_version, parsed.threads, threads);
  Soc host = detect_soc(agreed);
  if (parse_version(host.version).base == parsed.base) return host;
  const fs::path file = fs::path(config_dir) / (parsed.base + ".json");
  std::error_code status;
  if (parsed.base.find('/') == std::string::npos && fs::is_regular_file(file, status))
    return read_description(file, agreed);
  const std::string known = "known are " + known_versions(config_dir);
  if (soc_version.starts_with("Ascend"))
    throw Error(ExitCode::kUsage,
                "'" + soc_version + "' is an NPU, and oms of this engine run on CPUs",
                "--soc_version", "use auto for this machine; " + known);
  throw Error(ExitCode::kUsage, "unknown soc_version '" + soc_version + "'", "--soc_version",
              known);
}

}  // namespace aoe::compiler
