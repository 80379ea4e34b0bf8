// CPUID, as the compiler's builtins read it (they also ask whether the operating system saves the
// wide registers).
#include "runtime/isa.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ranges>

namespace aoe::runtime {
namespace {

/// Linux saves the tiles of a process only once it has asked for them, for all its threads. Sources: Intel's SDM, CPUID leaf 7; Linux,
/// Documentation/arch/x86/xstate.rst.
bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  constexpr unsigned kTilesOfBf16 = 1u << 22, kTiles = 1u << 24, kTilesOfBytes = 1u << 25;
  constexpr unsigned kAll = kTilesOfBf16 | kTiles | kTilesOfBytes;
  static const bool may = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & kAll) == kAll &&
           ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return may;
}

/// avx2 is all of x86-64-v3, avx512 all of x86-64-v4: what every AVX-512 server core has.
constexpr IsaRow kIsas[] = {
    {"avx2", "avx2", {}, "x86-64-v3", [] { return __builtin_cpu_supports("x86-64-v3") != 0; }},
    {"avx2_vnni", "avx2", Feature::kVnni, "+avxvnni",
     [] { return __builtin_cpu_supports("avxvnni") != 0; }},
    {"avx512", "avx512", {}, "x86-64-v4", [] { return __builtin_cpu_supports("x86-64-v4") != 0; }},
    {"avx512_vnni", "avx512", Feature::kVnni, "+avx512vnni",
     [] { return __builtin_cpu_supports("avx512vnni") != 0; }},
    {"avx512_bf16", "avx512", Feature::kBf16, "+avx512bf16",
     [] { return __builtin_cpu_supports("avx512bf16") != 0; }},
    {"avx512_fp16", "avx512", Feature::kFp16, "+avx512fp16",
     [] { return __builtin_cpu_supports("avx512fp16") != 0; }},
    {"avx512_amx", "avx512", Feature::kAmx, "+amx-tile,+amx-bf16,+amx-int8", may_use_tiles},
};

/// The rows that the word of `row` stands for: its base's, up to itself.
auto rows_of(const IsaRow& row) {
  return std::span(kIsas).first(static_cast<std::size_t>(&row - kIsas) + 1) |
         std::views::filter([&](const IsaRow& each) { return each.base == row.base; });
}

}  // namespace

std::string_view name(Feature feature) {
  const IsaRow& row = *std::ranges::find(kIsas, feature, &IsaRow::feature);
  return row.word.substr(row.base.size() + 1);
}

std::span<const IsaRow> isa_table() {
  return kIsas;
}

const IsaRow* find_isa(std::string_view word) {
  const auto row = std::ranges::find(kIsas, word, &IsaRow::word);
  return row == std::end(kIsas) ? nullptr : row;
}

FeatureSet features_of(const IsaRow& row) {
  FeatureSet features;
  for (const IsaRow& each : rows_of(row))
    if (each.feature) features.add(*each.feature);
  return features;
}

std::string_view isa_word(std::string_view base, FeatureSet features) {
  std::string_view word = base;
  for (const IsaRow& row : kIsas)
    if (row.base == base && row.feature && features.has(*row.feature)) word = row.word;
  return word;
}

std::string llvm_features(std::string_view base, FeatureSet features) {
  std::string text;
  for (const IsaRow& row : kIsas)
    if (row.base == base && row.feature && features.has(*row.feature))
      text += std::string(text.empty() ? "" : ",") + std::string(row.llvm);
  return text;
}

bool host_supports(std::string_view isa) {
  const IsaRow* row = find_isa(isa);
  return row != nullptr &&
         std::ranges::all_of(rows_of(*row), [](const IsaRow& each) { return each.is_on_host(); });
}

std::string best_host_isa() {
  for (const IsaRow& row : std::views::reverse(kIsas))
    if (host_supports(row.word)) return std::string(row.word);
  return "x86_64";
}

}  // namespace aoe::runtime
