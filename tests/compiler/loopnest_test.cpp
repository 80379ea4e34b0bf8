// Building loop nests: what folds, what is refused, and the text of a whole function.
#include "compiler/loopnest/loopnest.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace aoe::compiler::loopnest {
namespace {

/// The text of `i`'s expression over two loop variables.
std::string index_text(const std::function<Int(Int x, Int y)>& make) {
  Builder b("f");
  const Buffer out = b.buffer("out", Access::kWrite);
  b.parallel(100, [&](Int x) {
    b.loop("y", 0, 100, 1, [&](Int y) { b.store(out, make(x, y), splat(0.0f, 1)); });
  });
  const std::string text = to_text(b.finish());
  const auto begin = text.find("out[") + 4;
  return text.substr(begin, text.find("] =") - begin);
}

struct FoldCase {
  const char* name;
  std::function<Int(Int, Int)> make;
  const char* text;
};

void PrintTo(const FoldCase& each, std::ostream* out) {
  *out << each.name;
}

class IndexFolding : public testing::TestWithParam<FoldCase> {};

TEST_P(IndexFolding, KeepsConstantsOutermost) {
  EXPECT_EQ(index_text(GetParam().make), GetParam().text);
}

const FoldCase kFoldCases[] = {
    {"add_zero", [](Int x, Int) { return x + 0; }, "p0"},
    {"zero_add", [](Int x, Int) { return 0 + x; }, "p0"},
    {"times_one", [](Int x, Int) { return 1 * x; }, "p0"},
    {"times_zero", [](Int x, Int y) { return x * 0 + y; }, "y1"},
    {"nested_constants", [](Int x, Int y) { return (x + 3) + (y + 4); }, "p0 + y1 + 7"},
    {"distributes_factor", [](Int x, Int y) { return (x + 3) * 16 + y; }, "p0 * 16 + y1 + 48"},
    {"merges_factors", [](Int x, Int) { return (x * 4 + 2) * 8; }, "p0 * 32 + 16"},
    {"subtracts_same", [](Int x, Int) { return (x + 5) - (x + 2); }, "3"},
    {"subtracts_constant", [](Int x, Int) { return x + 5 - 7; }, "p0 + -2"},
    {"divides_factor", [](Int x, Int) { return (x * 32 + 17) / 16; }, "p0 * 2 + 1"},
    {"modulo_of_factor", [](Int x, Int) { return (x * 32 + 17) % 16; }, "1"},
    {"keeps_division", [](Int x, Int) { return (x + 1) / 3; }, "(p0 + 1) / 3"},
    {"keeps_modulo", [](Int x, Int y) { return x % y; }, "p0 % y1"},
    {"modulo_one", [](Int x, Int y) { return x % 1 + y; }, "y1"},
    {"min_same_base", [](Int x, Int) { return min(x + 2, x + 1); }, "p0 + 1"},
    {"max_constants", [](Int, Int) { return max(Int(3), Int(8)); }, "8"},
    {"keeps_min", [](Int x, Int y) { return min(x, y); }, "min(p0, y1)"},
    {"precedence", [](Int x, Int y) { return (x - y) * (x + y); }, "(p0 - y1) * (p0 + y1)"},
};
INSTANTIATE_TEST_SUITE_P(Cases, IndexFolding, testing::ValuesIn(kFoldCases),
                         testing::PrintToStringParamName());

TEST(Conditions, FoldWhenTheOrderIsKnown) {
  Builder b("f");
  b.parallel(8, [&](Int x) {
    EXPECT_EQ((x < x + 1).constant(), true);
    EXPECT_EQ((x + 2 <= x + 1).constant(), false);
    EXPECT_EQ((x == x).constant(), true);
    EXPECT_EQ((Int(3) != Int(3)).constant(), false);
    EXPECT_EQ((x < Int(4)).constant(), std::nullopt);
    EXPECT_EQ((x < Int(4) && Int(1) < Int(0)).constant(), false);
    EXPECT_EQ((x < Int(4) || Int(0) < Int(1)).constant(), true);
    EXPECT_EQ((!(Int(0) < Int(1))).constant(), false);
  });
}

TEST(Vectors, FoldConstants) {
  EXPECT_EQ((splat(2.0f, 4) * splat(3.0f, 4)).e->fvalue, 6.0f);
  EXPECT_EQ(max(splat(2.0f, 4), splat(3.0f, 4)).e->fvalue, 3.0f);
  EXPECT_EQ(broadcast(splat(5.0f, 1), 8).lanes(), 8);
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead);
  const Vec v = b.load(x, 0, 4);
  EXPECT_EQ((v * splat(1.0f, 4)).e, v.e);
}

TEST(Builder, EmitsLoopsOfOneTripWithoutALoop) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kWrite);
  b.parallel(1, [&](Int p) {
    b.loop("once", 4, 8, 4, [&](Int i) { b.store(x, p + i, splat(0.0f, 4)); });
    b.loop("never", 4, 4, 1, [&](Int) { FAIL() << "the body of an empty loop"; });
  });
  EXPECT_EQ(to_text(b.finish()),
            "buffer x: float32 write\n"
            "parallel p0 in [0, 1)\n"
            "  x[4] = 0x4\n");
}

TEST(Builder, CountsIterationsThroughAllRounds) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kReadWrite);
  b.parallel_rounds(3, 4, [&](Int round, Int i) { b.store(x, round * 100 + i, splat(1.0f, 1)); });
  const Function function = b.finish();
  EXPECT_EQ(function.rounds, 3);
  EXPECT_EQ(function.parallel_extent, 4);
  EXPECT_EQ(to_text(function),
            "buffer x: float32 read_write\n"
            "parallel p0 in [0, 4), 3 rounds\n"
            "  x[p0 / 4 * 100 + p0 % 4] = 1\n");
}

TEST(Builder, DropsStaticallyInactiveStores) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kWrite);
  b.parallel(1, [&](Int) {
    b.store(x, 0, splat(1.0f, 8), Int(0));
    b.store(x, 0, splat(2.0f, 8), Int(8));
    b.store(x, 0, splat(3.0f, 8), Int(5));
  });
  EXPECT_EQ(to_text(b.finish()),
            "buffer x: float32 write\n"
            "parallel p0 in [0, 1)\n"
            "  x[0] = 2x8\n"
            "  x[0, active 5] = 3x8\n");
}

TEST(Builder, VectorLoopPeelsTheTail) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kWrite);
  b.parallel(3, [&](Int row) {
    vector_loop(b, "i", 37, 16, [&](Int i, std::optional<Int> active) {
      b.store(y, row * 37 + i, b.load(x, row * 37 + i, 16, active), active);
    });
  });
  EXPECT_EQ(to_text(b.finish()),
            "buffer x: float32 read\n"
            "buffer y: float32 write\n"
            "parallel p0 in [0, 3)\n"
            "  for i1 in [0, 32) step 16\n"
            "    y[p0 * 37 + i1] = x[p0 * 37 + i1]x16\n"
            "  y[p0 * 37 + 32, active 5] = x[p0 * 37 + 32, active 5]x16\n");
}

TEST(Text, WritesEveryStatement) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead),
               ids = b.buffer("ids", Access::kRead, DataType::kInt64);
  const Buffer y = b.buffer("y", Access::kReadWrite), t = b.scratch("t", 5);
  b.parallel(10, [&](Int row) {
    const Local sum = b.local(splat(0.5f, 8));
    b.loop("k", row, 20, 2, [&](Int k) {
      b.assign(sum, fma(b.load_broadcast(x, k, 8), b.load(x, k * 8, 8, {}, 3), b.get(sum)));
    });
    const Vec value = exp(b.get(sum));
    b.if_(
        row < Int(4), [&] { b.store(t, 0, value * value, row); },
        [&] { b.prefetch(x, b.load_int(ids, row)); });
    b.store(y, row, reduce_max(select(active_lanes(row, 8), value, -value)));
  });
  EXPECT_EQ(to_text(b.finish()),
            "buffer x: float32 read\n"
            "buffer ids: int64 read\n"
            "buffer y: float32 read_write\n"
            "buffer t: float32 scratch at 0\n"
            "scratch 64 bytes\n"
            "parallel p0 in [0, 10)\n"
            "  %0 = 0.5x8\n"
            "  for k1 in [p0, 20) step 2\n"
            "    %0 = fma(x[k1, stride 0]x8, x[k1 * 8, stride 3]x8, %0)\n"
            "  if p0 < 4\n"
            "    t0 = exp(%0)\n"
            "    t[0, active p0] = t0 * t0\n"
            "  else\n"
            "    prefetch x[ids[p0]]\n"
            "  t0 = exp(%0)\n"
            "  y[p0] = reduce_max(select(active_lanes(p0, 8), t0, neg(t0)))\n");
}

TEST(Text, GrowsLinearlyWithSharedExpressions) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kReadWrite);
  b.parallel(1, [&](Int) {
    Vec v = b.load(x, 0, 4);
    for (int i = 0; i < 40; ++i) v = v * v;
    b.store(x, 0, v);
  });
  EXPECT_LT(to_text(b.finish()).size(), 2000u);
}

TEST(Text, DoesNotContainTheName) {
  const auto build = [](const char* name) {
    Builder b(name);
    const Buffer x = b.buffer("x", Access::kWrite);
    b.parallel(1, [&](Int) { b.store(x, 0, splat(1.0f, 1)); });
    return to_text(b.finish());
  };
  EXPECT_EQ(build("first"), build("second"));
}

TEST(Misuse, IsRefused) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kWrite);
  EXPECT_THROW(b.store(y, 0, splat(0.0f, 1)), InternalError);  // outside parallel()
  EXPECT_THROW(Builder("empty").finish(), InternalError);
  b.parallel(1, [&](Int) {
    EXPECT_THROW(b.store(x, 0, splat(0.0f, 1)), InternalError);
    EXPECT_THROW(b.load_int(y, 0), InternalError);
    EXPECT_THROW(splat(0.0f, 4) + splat(0.0f, 8), InternalError);
    EXPECT_THROW(Int(4) / Int(0), InternalError);
    EXPECT_THROW(broadcast(splat(0.0f, 2), 8), InternalError);
    EXPECT_THROW(transpose_row({splat(0.0f, 2)}, 0), InternalError);
    EXPECT_THROW(permute(splat(0.0f, 2), {0, 2}), InternalError);
    EXPECT_THROW(permute(splat(0.0f, 2), splat(0.0f, 2), {0, 1, 3}), InternalError);
    EXPECT_THROW(interleave({splat(0.0f, 2), splat(0.0f, 4)}, 0), InternalError);
  });
  EXPECT_THROW(b.parallel(1, [](Int) {}), InternalError);
}

}  // namespace
}  // namespace aoe::compiler::loopnest
