// split_refused_epilogues: what no Impl computes in one kernel falls apart, and nothing of it is left to the reference.
#include "compiler/refused_epilogues.h"

#include <gtest/gtest.h>

#include "graph/passes.h"
#include "runtime/isa.h"
#include "runtime/om/step_paths.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/model_text.h"

namespace aoe::compiler {
namespace {

/// Through all passes, compiled and run for every Soc beside the reference; returns the steps for the last.
std::string check_split(const std::string& text) {
  const graph::Graph before = tests::import_text(text, 20);
  std::string steps;
  for (const Soc& soc : loopnest::test_socs()) {
    graph::Graph after = before;
    graph::run_passes(after, {.also = {split_refused_epilogues_pass(soc)}});
    const runtime::Om om = expect_compiled_like_reference(after, options_for(soc, 2), before);
    if (runtime::best_host_isa().starts_with(soc.target->name())) {  // oneDNN picks for the machine
      EXPECT_EQ(runtime::reference_part({.gears = {}, .oms = {om}}), "") << soc.version;
    }
    steps = steps_text(om);
  }
  return steps;
}

TEST(RefusedEpilogues, BehindAConvolutionWhoseWeightsAreComputed) {
  const std::string steps = check_split(R"(
      g (float[2,16,9,9] x, float[8,16,3,3] w) => (float[2,8,7,7] y) { a = Conv (x, w) y = Sin (a) })");
  EXPECT_NE(steps.find(":Sin"), std::string::npos) << steps;
}

TEST(RefusedEpilogues, StayAsFarAsTheLibraryTakesThem) {
  const std::string steps = check_split(R"(
      g (float[2,16,9,9] x, float[16,8,2,2] w) => (float[2,8,18,18] y) {
    a = ConvTranspose <strides = [2,2]> (x, w)
    b = Relu (a)
    c = Cos (b)
    y = Neg (c)
  })");
  EXPECT_EQ(steps.find(":Relu"), std::string::npos) << "not a step of its own: " << steps;
}

TEST(RefusedEpilogues, ThatReadWhatIsAddedBehindTheCut) {
  check_split(R"(
      g (float[1,16,9,9] x, float[8,16,3,3] w, float[8] b, float[1,8,7,7] r) => (float[1,8,7,7] y) {
    a = Conv (x, w, b)
    c = Add (r, a)
    d = Relu (c)
    e = Sin (d)
    f = Mul (e, r)
    y = Sub (f, e)
  })");
}

TEST(RefusedEpilogues, OfWhatReadsItsAnchorAgain) {
  check_split(R"(
      g (float[1,16,9,9] x, float[8,16,3,3] w) => (float[1,8,7,7] y) {
    a = Conv (x, w)
    b = Sin (a)
    y = Mul (b, a)
  })");
}

}  // namespace
}  // namespace aoe::compiler
