// The instruction sets that generated code may ask of a machine: one table, read by the runtime (may this om run here?), by
// descriptions of hardware and by the code generator.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace aoe::runtime {

/// What a processor may have beyond its base instruction set.
enum class Feature : int {
  kVnni,  ///< products of byte quads, summed up in int32
  kBf16,  ///< products of bfloat16 pairs, summed up in float32
  kFp16,  ///< arithmetic in float16
  kAmx,  ///< tiles: products of bytes and of bfloat16, sixteen rows by sixteen columns of sums at a time
};

/// "vnni", "bf16", "fp16", "amx".
std::string_view name(Feature feature);

class FeatureSet {
 public:
  constexpr FeatureSet() = default;
  constexpr FeatureSet(std::initializer_list<Feature> features) {
    for (const Feature feature : features) add(feature);
  }
  constexpr bool has(Feature feature) const { return (bits_ & bit(feature)) != 0; }
  constexpr void add(Feature feature) { bits_ |= bit(feature); }
  constexpr void add(FeatureSet others) { bits_ |= others.bits_; }
  constexpr void remove(Feature feature) { bits_ &= ~bit(feature); }
  constexpr bool operator==(const FeatureSet&) const = default;

 private:
  static constexpr unsigned bit(Feature feature) { return 1u << static_cast<int>(feature); }
  unsigned bits_ = 0;
};

/// A word by which oms and configs/soc/ name an instruction set: a base, or a base with a feature and with those of the
/// rows before it of the same base, which every processor that has the feature has too.
struct IsaRow {
  std::string_view word;           ///< "avx512_bf16"
  std::string_view base;           ///< "avx512"
  std::optional<Feature> feature;  ///< none: the base itself
  std::string_view llvm;           ///< LLVM's name of the base as a CPU, of the feature as such
  bool (*is_on_host)();            ///< what the row adds alone
};

/// Bases from the least to the best, each with its features behind it.
std::span<const IsaRow> isa_table();

/// nullptr for other words.
const IsaRow* find_isa(std::string_view word);

/// All that the row's word stands for beyond its base.
FeatureSet features_of(const IsaRow& row);

/// The least word that stands for the base with all of `features`.
std::string_view isa_word(std::string_view base, FeatureSet features);

/// What LLVM calls `features` of a base: "+avx512vnni,+avx512bf16".
std::string llvm_features(std::string_view base, FeatureSet features);

/// False for other words than the table's.
bool host_supports(std::string_view isa);

/// The last word of the table that the host supports, or "x86_64" when there is none.
std::string best_host_isa();

}  // namespace aoe::runtime
