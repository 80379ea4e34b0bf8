// Every Impl on every shape line of shapes/*.txt, for every instruction set of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "runtime/isa.h"
#include "tests/compiler/impl_check.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler {
namespace {

/// AOE_ELSEWHERE=1: for AVX-512 as well where this machine lacks it, whose code LLVM takes several times as long for. A part of
/// these plans is drawn in each run (generated_shapes_test.cpp).
std::vector<Soc> socs_for(bool is_quantised) {
  std::vector<Soc> socs = loopnest::planned_socs(is_quantised);
  const auto is_elsewhere = [](const Soc& soc) { return &loopnest::machine_for(soc) != &soc; };
  if (std::getenv("AOE_ELSEWHERE") == nullptr) std::erase_if(socs, is_elsewhere);
  socs.push_back(loopnest::tile_soc());
  return socs;
}

class ImplsOn : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(ImplsOn, AgreeWithTheReference) {
  for (const std::string& text : read_shape_lines(GetParam())) {
    const ShapeLine line = parse_shape_line(text);
    const bool is_quantised = line.task.anchor().type.starts_with("Quant");
    for (const Soc& soc : socs_for(is_quantised)) {
      for (const Impl* impl : impls().all()) {
        if (!impl->supports(line.task, soc)) continue;
        check_impl(*impl, line, soc);
        if (HasFatalFailure()) return;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Shapes, ImplsOn, testing::ValuesIn(shape_files()),
                         [](const auto& each) { return each.param.stem().string(); });

/// This machine, on which libraries run, and one with every instruction set that an Impl may ask for.
std::vector<Soc> socs_with_features() {
  return {loopnest::test_socs().back(),
          {.version = "all",
           .target = find_target("avx512"),
           .features = {Feature::kVnni, Feature::kBf16, Feature::kFp16, Feature::kAmx},
           .threads = 2}};
}

/// An Impl that no shape line reaches is not tested.
TEST(ShapeLines, ReachEveryImpl) {
  std::vector<ShapeLine> lines;
  for (const auto& file : shape_files())
    for (const std::string& text : read_shape_lines(file)) lines.push_back(parse_shape_line(text));
  const std::vector<Soc> socs = socs_with_features();
  for (const Impl* impl : impls().all()) {
    // oneDNN has it for AVX-512 alone, and is asked on this machine.
    if (impl->name() == "onednn_winograd" && !runtime::host_supports("avx512")) continue;
    const auto takes = [&](const ShapeLine& line) {
      return std::ranges::any_of(
          socs, [&](const Soc& soc) { return impl->supports(line.task, soc).has_value(); });
    };
    EXPECT_TRUE(std::ranges::any_of(lines, takes)) << impl->name();
  }
}

TEST(ShapeLines, RefuseNonsense) {
  EXPECT_THROW(parse_shape_line("NoSuchOp in=1"), Error);
  EXPECT_THROW(parse_shape_line("Relu in=2x3:nonsense"), Error);
  EXPECT_THROW(parse_shape_line("Relu in=2x3 alpha="), Error);
  EXPECT_THROW(parse_shape_line("Relu in=2x3 what"), Error);
}

TEST(RowChain, RefusesRowsThatNoCacheHolds) {
  const ShapeLine line = parse_shape_line(
      "FusedChain in=1x32x8x64 in=32x1x3x3:const in=4x32x1x1:const"
      " -> Conv2D in0 in1 group=32 pads=[1,1,1,1] -> Conv2D step0 in2");
  Soc soc = loopnest::test_socs().back();
  const Impl& impl = *impls().find("row_chain");
  EXPECT_TRUE(impl.supports(line.task, soc));
  soc.l2_bytes = 1024;
  const auto refused = impl.supports(line.task, soc);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("2048"), std::string::npos) << refused.error();
}

}  // namespace
}  // namespace aoe::compiler
