// gemm_fp16: its results on any machine, where float16 goes through float32, and its instructions for one that has AVX512-FP16.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/loopnest/codegen.h"
#include "tests/compiler/impl_check.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler {
namespace {

Soc fp16_soc() {
  return {.version = "x86_64-sapphirerapids-2t",
          .target = find_target("avx512"),
          .llvm_cpu = "sapphirerapids",
          .features = {Feature::kVnni, Feature::kBf16, Feature::kFp16},
          .threads = 2};
}

const Impl& gemm_fp16() {
  return *impls().find("gemm_fp16");
}

TEST(GemmFp16, AgreesWithTheReferenceThroughFloat32) {
  const char* const lines[] = {
      "MatMulV2 in=5x64 in=64x32:const allow_fp16=1",
      "MatMulV2 in=33x300 in=300x112:const allow_fp16=1",
      "MatMulV2 in=2x13x129 in=129x40:const allow_fp16=1",
      "MatMulV2 in=1x1000 in=1000x17:const allow_fp16=1",
      "Gemm in=1x301 in=301x33:const in=33:const alpha=0.5 allow_fp16=1",
      "Gemm in=40x257 in=48x257:const in=48:const transB=1 anchor_inputs=3 allow_fp16=1 -> Relu "
      "anchor",
  };
  for (const char* line : lines) {
    const ShapeLine shape = parse_shape_line(line);
    const Result<void> supported = gemm_fp16().supports(shape.task, fp16_soc());
    ASSERT_TRUE(supported) << line << ": " << supported.error();
    check_impl(gemm_fp16(), shape, fp16_soc());
  }
}

TEST(GemmFp16, IsOfferedWhereItIsAllowedAndTheMachineHasIt) {
  const Task allowed = parse_shape_line("MatMulV2 in=5x64 in=64x32:const allow_fp16=1").task;
  const Task only_bf16 = parse_shape_line("MatMulV2 in=5x64 in=64x32:const allow_bf16=1").task;
  Soc without = fp16_soc();
  without.features.remove(Feature::kFp16);
  EXPECT_TRUE(gemm_fp16().supports(allowed, fp16_soc()));
  EXPECT_FALSE(gemm_fp16().supports(only_bf16, fp16_soc()));
  EXPECT_FALSE(gemm_fp16().supports(allowed, without));
}

TEST(GemmFp16, MultipliesThirtyTwoNumbersInOneInstruction) {
  const ShapeLine shape = parse_shape_line("MatMulV2 in=33x300 in=300x112:const allow_fp16=1");
  const FormatChoice format = gemm_fp16().formats(shape.task, fp16_soc()).at(0);
  const auto plan = gemm_fp16().plan(shape.task, format, fp16_soc());
  const Kernel kernel = plan->build(plan->heuristic());
  EXPECT_TRUE(kernel.needs.has(Feature::kFp16));
  const std::string text = loopnest::assembly(kernel.stages.back(), fp16_soc());
  const auto count = [&](const std::string& word) {
    int found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
      ++found;
    return found;
  };
  EXPECT_GE(count("vfmadd231ph"), 8) << text;
  EXPECT_EQ(count("vfmadd231ps"), 0);
  EXPECT_EQ(count("call"), 0);
  EXPECT_GT(count("%zmm"), 0);
}

}  // namespace
}  // namespace aoe::compiler
