// Attention as models write it, through all passes, compiled and run, beside the graph as it was
// imported.
#include <gtest/gtest.h>

#include "graph/passes.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/model_text.h"

namespace aoe::compiler {
namespace {

struct Case {
  const char* name;
  const char* model;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

const Case kCases[] = {
    {"heads_and_mask",
     R"(g (float[2,37,80] q, float[2,19,80] k, float[2,19,80] v, float[2,1,1,19] mask) => (float[2,37,80] y) {
       heads = Constant <value = int64[4] {2, -1, 2, 40}> ()
       six = Constant <value = float {6.3}> ()
       qs = Reshape (q, heads)
       qt = Transpose <perm = [0,2,1,3]> (qs)
       ks = Reshape (k, heads)
       kt = Transpose <perm = [0,2,3,1]> (ks)
       vs = Reshape (v, heads)
       vt = Transpose <perm = [0,2,1,3]> (vs)
       a = MatMul (qt, kt)
       b = Div (a, six)
       c = Add (b, mask)
       s = Softmax (c)
       o = MatMul (s, vt)
       ot = Transpose <perm = [0,2,1,3]> (o)
       flat = Constant <value = int64[3] {2, 37, 80}> ()
       y = Reshape (ot, flat)
     })"},
    {"one_projection",
     R"(g (float[1,21,32] x) => (float[1,21,32] y) <float[32,96] w, float[96] bias, float[32,32] u> {
       parts = Constant <value = int64[5] {1, 21, 3, 2, 16}> ()
       quarter = Constant <value = float {0.05}> ()
       zero = Constant <value = int64 {0}> ()
       one = Constant <value = int64 {1}> ()
       two = Constant <value = int64 {2}> ()
       m = MatMul (x, w)
       p = Add (m, bias)
       r = Reshape (p, parts)
       t = Transpose <perm = [2,0,3,1,4]> (r)
       q = Gather (t, zero)
       k = Gather (t, one)
       v = Gather (t, two)
       qs = Mul (q, quarter)
       kt = Transpose <perm = [0,1,3,2]> (k)
       a = MatMul (qs, kt)
       s = Softmax (a)
       o = MatMul (s, v)
       ot = Transpose <perm = [0,2,1,3]> (o)
       flat = Constant <value = int64[3] {1, 21, 32}> ()
       f = Reshape (ot, flat)
       y = MatMul (f, u)
     })"},
    {"hidden_by_a_condition",
     R"(g (float[3,9,8] q, float[3,8,20] k, float[3,20,5] v, bool[9,20] seen) => (float[3,9,5] y, float[3,9,5] z) {
       low = Constant <value = float {-1000000000000}> ()
       third = Constant <value = float {0.35}> ()
       a = MatMul (q, k)
       as = Mul (a, third)
       b = Where (seen, as, low)
       s = Softmax (b)
       y = MatMul (s, v)
       qn = Neg (q)
       c = MatMul (qn, k)
       cs = Mul (third, c)
       d = Where (seen, cs, low)
       e = Softmax (d)
       z = MatMul (e, v)
     })"},
    // As in the first layer of a detector's decoder: a table of weights asks the image.
    {"learned_queries",
     R"(g (float[3,8,20] k, float[3,20,5] v) => (float[3,9,5] y) <float[3,9,8] q> {
       a = MatMul (q, k)
       s = Softmax (a)
       y = MatMul (s, v)
     })"},
};

class AttentionModels : public testing::TestWithParam<Case> {};

TEST_P(AttentionModels, RunLikeTheReference) {
  const graph::Graph before = tests::import_text(GetParam().model);
  graph::Graph after = before;
  graph::run_passes(after, {});
  for (const Soc& soc : loopnest::test_socs()) {
    const runtime::Om om = expect_compiled_like_reference(after, options_for(soc, 2), before);
    EXPECT_NE(steps_text(om).find("jit:FlashAttentionScore"), std::string::npos) << steps_text(om);
    EXPECT_EQ(steps_text(om).find("Softmax"), std::string::npos) << steps_text(om);
  }
}

INSTANTIATE_TEST_SUITE_P(Attention, AttentionModels, testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace aoe::compiler
