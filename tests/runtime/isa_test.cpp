// Words for instruction sets: what each stands for, and who has it.
#include "runtime/isa.h"

#include <gtest/gtest.h>

namespace aoe::runtime {
namespace {

TEST(Isa, AWordStandsForItsBaseAndTheFeaturesBefore) {
  const FeatureSet all = {Feature::kVnni, Feature::kBf16, Feature::kFp16};
  EXPECT_EQ(features_of(*find_isa("avx2")), FeatureSet{});
  EXPECT_EQ(features_of(*find_isa("avx2_vnni")), FeatureSet{Feature::kVnni});
  EXPECT_EQ(features_of(*find_isa("avx512")), FeatureSet{}) << "not those of another base";
  EXPECT_EQ(features_of(*find_isa("avx512_fp16")), all);
  EXPECT_EQ(find_isa("neon"), nullptr);
  EXPECT_FALSE(host_supports("neon"));
}

TEST(Isa, TheLeastWordIsFoundThatHasAll) {
  EXPECT_EQ(isa_word("avx2", {}), "avx2");
  EXPECT_EQ(isa_word("avx2", {Feature::kVnni}), "avx2_vnni");
  EXPECT_EQ(isa_word("avx512", {Feature::kBf16}), "avx512_bf16");
  EXPECT_EQ(isa_word("avx512", {Feature::kVnni, Feature::kFp16}), "avx512_fp16");
  EXPECT_EQ(isa_word("avx512", {Feature::kBf16, Feature::kAmx}), "avx512_amx");
  for (const IsaRow& row : isa_table()) EXPECT_EQ(isa_word(row.base, features_of(row)), row.word);
}

TEST(Isa, LlvmIsAskedForAllFeaturesAndNoOther) {
  EXPECT_EQ(llvm_features("avx512", {}), "");
  EXPECT_EQ(llvm_features("avx2", {Feature::kVnni}), "+avxvnni");
  EXPECT_EQ(llvm_features("avx512", {Feature::kVnni, Feature::kBf16}), "+avx512vnni,+avx512bf16");
  EXPECT_EQ(llvm_features("avx512", {Feature::kAmx}), "+amx-tile,+amx-bf16,+amx-int8");
}

TEST(Isa, TheHostHasAllThatItsBestWordStandsFor) {
  const IsaRow* best = find_isa(best_host_isa());
  ASSERT_NE(best, nullptr) << "below the least that the engine needs";
  EXPECT_TRUE(host_supports(best->word));
  EXPECT_TRUE(host_supports(best->base));
  for (const IsaRow& row : isa_table())
    if (row.base == best->base && row.feature && features_of(*best).has(*row.feature)) {
      EXPECT_TRUE(host_supports(row.word)) << row.word;
    }
}

}  // namespace
}  // namespace aoe::runtime
