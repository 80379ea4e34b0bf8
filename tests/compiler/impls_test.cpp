// Every Impl on every shape line of shapes/*.txt, for every instruction set of this machine.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/compiler/impl_check.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler {
namespace {

std::vector<std::filesystem::path> shape_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(AOE_TEST_DIR) + "/shapes")) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class ImplsOn : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(ImplsOn, AgreeWithTheReference) {
  for (const std::string& text : read_shape_lines(GetParam())) {
    const ShapeLine line = parse_shape_line(text);
    const bool is_quantised = line.task.op.type.starts_with("Quant");
    for (const Soc& soc : is_quantised ? loopnest::quantised_test_socs() : loopnest::test_socs()) {
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

/// This machine's instruction sets, and float16, which few machines have: gemm_fp16_test.cpp tests
/// its Impl on all others.
std::vector<Soc> socs_with_fp16() {
  const std::span<const Soc> own = loopnest::test_socs();
  std::vector<Soc> socs(own.begin(), own.end());
  socs.push_back(socs.back());
  socs.back().has_fp16 = true;
  return socs;
}

/// An Impl that no shape line reaches is not tested.
TEST(ShapeLines, ReachEveryImpl) {
  for (const Impl* impl : impls().all()) {
    bool is_reached = false;
    for (const auto& file : shape_files()) {
      for (const std::string& text : read_shape_lines(file)) {
        for (const Soc& soc : socs_with_fp16())
          is_reached = is_reached || impl->supports(parse_shape_line(text).task, soc).has_value();
      }
    }
    EXPECT_TRUE(is_reached) << impl->name();
  }
}

TEST(ShapeLines, RefuseNonsense) {
  EXPECT_THROW(parse_shape_line("NoSuchOp in=1"), Error);
  EXPECT_THROW(parse_shape_line("Relu in=2x3:nonsense"), Error);
  EXPECT_THROW(parse_shape_line("Relu in=2x3 alpha="), Error);
  EXPECT_THROW(parse_shape_line("Relu in=2x3 what"), Error);
}

}  // namespace
}  // namespace aoe::compiler
