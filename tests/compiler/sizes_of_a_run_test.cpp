// Models part of whose sizes only a run knows: what networks are made of has native kernels for them.
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/passes.h"
#include "runtime/step_paths.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/model_text.h"

namespace aoe::compiler {
namespace {

/// Rows of x whose first number is positive go through `network`, from r to y. Returns what is left to the reference.
std::string reference_part_of(const std::string& rows, const std::string& weights,
                              const std::string& network) {
  const graph::Graph before =
      tests::import_text("g (float[" + rows + "] x) => (y) <" + weights + R"(
      float zero = {0}, int64[1] flat = {-1}, int64[1] first = {0}> {
    f = Flatten <axis = 1> (x)
    h = Gather <axis = 1> (f, first)
    c = Greater (h, zero)
    p = Reshape (c, flat)
    n = NonZero (p)
    i = Reshape (n, flat)
    r = Gather <axis = 0> (x, i)
    )" + network + "}",
                         20);
  graph::Graph after = before;
  graph::run_passes(after, {});
  const runtime::Om om =
      expect_compiled_like_reference(after, options_for(loopnest::test_socs().back(), 2), before);
  return runtime::reference_part({.gears = {}, .oms = {om}});
}

TEST(SizesOfARun, LeaveProductsAndNormalisationsToNativeKernels) {
  const std::string part =
      reference_part_of("40,16", "float[16,24] w, float[24] b, float[24] s,", R"(
    a = MatMul (r, w)
    d = Add (a, b)
    e = LayerNormalization (d, s)
    k = Softmax (e)
    l = Gelu (k)
    y = Gemm <transB = 1> (l, w)
  )");
  for (const char* type : {"MatMulV2", "Add", "LayerNorm", "SoftmaxV2", "Gelu", "Gemm"})
    EXPECT_EQ(part.find(type), std::string::npos) << type << ": " << part;
}

TEST(SizesOfARun, LeaveConvolutionsToNativeKernels) {
  const std::string part = reference_part_of("6,8,7,7", "float[12,8,3,3] w, float[12,4,2,2] v,", R"(
    a = Conv <pads = [1,1,1,1]> (r, w)
    b = Relu (a)
    d = ConvTranspose <strides = [2,2]> (b, v)
    y = Sigmoid (d)
  )");
  for (const char* type : {"Conv2D", "Relu", "Conv2DTranspose", "Sigmoid"})
    EXPECT_EQ(part.find(type), std::string::npos) << type << ": " << part;
}

/// An om has no place for such, and would be written only to be refused when it is loaded.
TEST(SizesOfARun, AreOfAKnownNumberOfDimensions) {
  graph::Graph graph = tests::import_text(R"(g (int64[3] s, bool[3] c) => (y) {
    t = Compress <axis = 0> (s, c)
    y = ConstantOfShape (t)
  })",
                                          20);
  graph::run_passes(graph, {});
  try {
    compile(graph, options_for(loopnest::test_socs().back()));
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kModel);
    EXPECT_NE(std::string(e.what()).find("value 'y'"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace aoe::compiler
